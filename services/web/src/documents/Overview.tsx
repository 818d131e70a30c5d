import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Button } from 'react-aria-components';
import { api, body, type Schemas } from '../api/client';
import { number, t, told } from '../i18n';
import style from './documents.module.css';

interface Props {
  mayChange: boolean;
}

const WATCHED_MILLISECONDS = 2000;
const isBusy = (summary: Schemas['DocumentSummary'] | undefined) =>
  Boolean(summary?.by_status.processing || summary?.by_status.deleting);

/** Failures by kind, each with a retry of all; and the number of documents that only lexical search finds. */
export function Overview({ mayChange }: Props) {
  const client = useQueryClient();
  const { data } = useQuery({
    queryKey: ['documents', 'summary'],
    queryFn: () => body(api.GET('/v1/documents/summary')),
    refetchInterval: ({ state }) => isBusy(state.data) && WATCHED_MILLISECONDS,
  });
  const retry = useMutation({
    mutationFn: (filter: Schemas['DocumentFilter']) => body(api.POST('/v1/documents/retry', { body: filter })),
    onSuccess: () => client.invalidateQueries({ queryKey: ['documents'] }),
  });
  const groups = [
    ...Object.entries(data?.failures ?? {}).map(([kind, count]) => ({
      text: t('failedOfKind', { kind: told(kind, kind.replaceAll('-', ' ')), count: number(count) }),
      filter: { status: 'failed', error_class: kind } as const,
    })),
    ...(data?.embedding_failed
      ? [
          {
            text: t('wordsOnly', { count: number(data.embedding_failed) }),
            filter: { embedding_status: 'failed' } as const,
          },
        ]
      : []),
  ];
  if (groups.length === 0) return null;
  return (
    <section aria-label={t('whatFailed')} className={style.overview}>
      <ul>
        {groups.map(({ text, filter }) => (
          <li key={text}>
            {text}{' '}
            {mayChange && (
              <Button
                isDisabled={retry.isPending}
                onPress={() => retry.mutate(filter)}
                aria-label={`${t('retryAll')}: ${text}`}
              >
                {t('retryAll')}
              </Button>
            )}
          </li>
        ))}
      </ul>
      <p role="status">{retry.error?.message ?? (retry.data && t('retried', { count: number(retry.data.done) }))}</p>
    </section>
  );
}
