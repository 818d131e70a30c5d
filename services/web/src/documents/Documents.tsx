import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useDeferredValue, useState } from 'react';
import { Button, Input, Label, SearchField } from 'react-aria-components';
import { api, body } from '../api/client';
import { t } from '../i18n';
import { Choice } from '../shell/Choice';
import page from '../shell/page.module.css';
import { DocumentRow } from './DocumentRow';
import style from './documents.module.css';
import { Overview } from './Overview';
import { isMoving, STATES, type Status } from './states';
import { Uploads } from './Uploads';

const WATCHED_MILLISECONDS = 2000;

/** The workspace's documents, newest first, optionally filtered; the list is reloaded while one is in progress. */
export default function Documents({ mayChange }: { mayChange: boolean }) {
  const [text, setText] = useState('');
  const [status, setStatus] = useState<Status | 'all'>('all');
  const name = useDeferredValue(text.trim());
  const wanted = { ...(name && { name }), ...(status !== 'all' && { status }) };
  const { data, error, hasNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: ['documents', wanted],
    placeholderData: keepPreviousData,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam }) => {
      const query = { limit: 50, ...wanted, ...(pageParam ? { cursor: pageParam } : {}) };
      return body(api.GET('/v1/documents', { params: { query } }));
    },
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    refetchInterval: ({ state }) => {
      const items = state.data?.pages.flatMap((page) => page.items) ?? [];
      return items.some(isMoving) && WATCHED_MILLISECONDS;
    },
  });
  const documents = data?.pages.flatMap((page) => page.items);
  const isFiltered = Object.keys(wanted).length > 0;
  const options = (Object.keys(STATES) as Status[]).map((value) => ({ value, name: t(STATES[value]) }));
  return (
    <main className={style.documents}>
      <h1>{t('documents')}</h1>
      {mayChange && <Uploads />}
      <Overview seen={documents?.filter((document) => !isMoving(document)).length} mayChange={mayChange} />
      {(isFiltered || documents?.length !== 0) && (
        <div className={page.form}>
          <SearchField className={page.grow!} value={text} onChange={setText}>
            <Label>{t('documentName')}</Label>
            <Input maxLength={200} />
          </SearchField>
          <Choice
            label={t('state')}
            value={status}
            options={[{ value: 'all', name: t('all') }, ...options]}
            onChange={setStatus}
          />
        </div>
      )}
      <p role="alert">{error?.message}</p>
      <p role="status">
        {documents ? documents.length === 0 && t(isFiltered ? 'nothingFound' : 'empty') : !error && t('loading')}
      </p>
      <ul>
        {documents?.map((document) => (
          <DocumentRow key={document.id} document={document} mayChange={mayChange} />
        ))}
      </ul>
      {hasNextPage && <Button onPress={() => fetchNextPage()}>{t('more')}</Button>}
    </main>
  );
}
