import { useInfiniteQuery } from '@tanstack/react-query';
import { Button } from 'react-aria-components';
import { api, body } from '../api/client';
import { t } from '../i18n';
import { DocumentRow } from './DocumentRow';
import style from './documents.module.css';
import { Uploads } from './Uploads';

const WATCHED_MILLISECONDS = 2000;

/** The workspace's documents, newest first; while one is in progress the list is read again. */
export default function Documents({ mayChange }: { mayChange: boolean }) {
  const { data, error, hasNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: ['documents'],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam }) => {
      const query = { limit: 50, ...(pageParam ? { cursor: pageParam } : {}) };
      return body(api.GET('/v1/documents', { params: { query } }));
    },
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    refetchInterval: ({ state }) => {
      const items = state.data?.pages.flatMap((page) => page.items) ?? [];
      return items.some(({ status }) => ['processing', 'deleting'].includes(status)) && WATCHED_MILLISECONDS;
    },
  });
  const documents = data?.pages.flatMap((page) => page.items);
  return (
    <main className={style.documents}>
      <h1>{t('documents')}</h1>
      {mayChange && <Uploads />}
      <p role="alert">{error?.message}</p>
      {documents?.length === 0 && <p>{t('empty')}</p>}
      <ul>
        {documents?.map((document) => (
          <DocumentRow key={document.id} document={document} mayChange={mayChange} />
        ))}
      </ul>
      {hasNextPage && <Button onPress={() => fetchNextPage()}>{t('more')}</Button>}
    </main>
  );
}
