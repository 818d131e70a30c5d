import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Button } from 'react-aria-components';
import { api, body, type Schemas } from '../api/client';
import { type Key, size, t, worded } from '../i18n';
import page from '../shell/page.module.css';
import { isUnderWay, resultOf } from './sources';

const WAIT_SECONDS = 20;
const ACTIONS = {
  add: 'actionAdd',
  change: 'actionChange',
  remove: 'actionRemove',
  refuse: 'actionRefuse',
} as const satisfies Record<Schemas['SyncAction'], Key>;

interface Props {
  sourceId: string;
  sync: Schemas['Sync'];
  onClose: () => void;
}

/** What a synchronisation did with each file, or for a dry run what it would do. */
export function Changes({ sourceId, sync, onClose }: Props) {
  const path = { source_id: sourceId, sync_id: sync.id };
  const state = useQuery({
    queryKey: ['sync', sync.id],
    queryFn: ({ signal }) => {
      const query = { wait: 'finished' as const, timeout: WAIT_SECONDS };
      return body(api.GET('/v1/sources/{source_id}/syncs/{sync_id}', { params: { path, query }, signal }));
    },
    refetchInterval: ({ state }) => Boolean(state.data && isUnderWay(state.data)) && 1,
  });
  const now = state.data ?? sync;
  const list = useInfiniteQuery({
    queryKey: ['sync-changes', sync.id, now.status],
    enabled: !isUnderWay(now),
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam }) => {
      const query = { limit: 100, ...(pageParam ? { cursor: pageParam } : {}) };
      return body(api.GET('/v1/sources/{source_id}/syncs/{sync_id}/changes', { params: { path, query } }));
    },
    getNextPageParam: ({ next_cursor: cursor }) => cursor ?? undefined,
  });
  const changes = list.data?.pages.flatMap(({ items }) => items);
  const title = t(sync.dry_run ? 'wouldChange' : 'hasChanged');
  return (
    <section aria-label={title} className={page.changes}>
      <h2>{title}</h2>
      <p role="status">{(state.error ?? list.error)?.message ?? resultOf(now)}</p>
      <ul>
        {changes?.map(({ position, action, path: file, file_size: bytes, message }) => (
          <li key={position}>
            <strong>{t(ACTIONS[action])}</strong> {file} {bytes !== null && size(bytes)}{' '}
            {message && <span className={page.quiet}>{worded(message)}</span>}
          </li>
        ))}
      </ul>
      <div className={page.actions}>
        {list.hasNextPage && <Button onPress={() => list.fetchNextPage()}>{t('more')}</Button>}
        <Button onPress={onClose}>{t('close')}</Button>
      </div>
    </section>
  );
}
