import { useInfiniteQuery, useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from 'react-aria-components';
import { api, body, type Schemas } from '../api/client';
import { type Key, t, when } from '../i18n';
import { Confirm } from '../shell/dialogs';
import style from '../shell/page.module.css';
import { inWords, nameOf, worldOf } from './world';

type WorldEvent = Schemas['WorldEvent'];
const HAPPENED = {
  created: 'worldCreated',
  operation: 'worldChanged',
  reflected: 'worldChanged',
  reverted: 'worldReverted',
  repaired: 'worldRepaired',
  forgotten: 'worldForgotten',
  conflict: 'worldConflict',
} as const satisfies Record<WorldEvent['kind'], Key>;

interface Props {
  sessionId: string | undefined;
  current: number;
  mayChange: boolean;
  userId: string;
  onReverted: () => Promise<unknown>;
}

/** Each version with what changed; any earlier one can be restored. */
export function WorldHistory({ sessionId, current, mayChange, userId, onReverted }: Props) {
  const [chosen, setChosen] = useState<number>();
  const { data, error, hasNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: ['world', sessionId, 'history'],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam }) => {
      const query = { ...worldOf(sessionId), limit: 20, ...(pageParam ? { cursor: pageParam } : {}) };
      return body(api.GET('/v1/world/history', { params: { query } }));
    },
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
  const done = async () => {
    await onReverted();
    setChosen(undefined);
  };
  return (
    <section aria-label={t('history')}>
      <h2>{t('history')}</h2>
      <p role="alert" className={style.error}>
        {error?.message}
      </p>
      <ol className={style.rows}>
        {data?.pages
          .flatMap((page) => page.items)
          .map((event) => (
            <li key={event.version}>
              <span className={style.words}>
                <span>
                  {t('versionOf', { version: event.version })} · {happened(event)}
                </span>
                <span className={style.quiet}>
                  {when(event.created_at)} · {whose(event, userId)}
                </span>
              </span>
              {mayChange && event.version !== current && (
                <Button
                  onPress={() => setChosen(event.version)}
                  aria-label={`${t('restore')}: ${t('versionOf', { version: event.version })}`}
                >
                  {t('restore')}
                </Button>
              )}
            </li>
          ))}
      </ol>
      {hasNextPage && <Button onPress={() => fetchNextPage()}>{t('more')}</Button>}
      {chosen !== undefined && (
        <Revert
          sessionId={sessionId}
          version={chosen}
          current={current}
          onDone={done}
          onCancel={() => setChosen(undefined)}
        />
      )}
    </section>
  );
}

function happened({ kind, op, path, value, previous }: WorldEvent): string {
  if ((kind !== 'operation' && kind !== 'reflected') || !op) return t(HAPPENED[kind]);
  return `${nameOf(path)}: ${op === 'remove' ? `${inWords(value ?? previous)} → –` : inWords(value)}`;
}

const whose = ({ created_by: by, run_id: run }: WorldEvent, userId: string) =>
  t(run ? 'byAssistant' : by === userId ? 'byYou' : by ? 'byMember' : 'bySystem');

interface RevertProps {
  sessionId: string | undefined;
  version: number;
  current: number;
  onDone: () => void;
  onCancel: () => void;
}

/** Shows the changes before a version is restored; restoring creates a new version, so it can be undone. */
function Revert({ sessionId, version, current, onDone, onCancel }: RevertProps) {
  const { data } = useQuery({
    queryKey: ['world', sessionId, 'diff', current, version],
    queryFn: () => {
      const query = { ...worldOf(sessionId), from: current, to: version };
      return body(api.GET('/v1/world/diff', { params: { query } }));
    },
  });
  const revert = useMutation({
    mutationFn: () => api.POST('/v1/world/revert', { params: { query: worldOf(sessionId) }, body: { version } }),
    onSuccess: onDone,
  });
  return (
    <Confirm
      text={t('restoreVersion', { version })}
      action={t('restore')}
      error={revert.error?.message}
      onConfirm={revert.mutate}
      onCancel={onCancel}
    >
      <ul>
        {data?.changes.map(({ path, before, after }) => (
          <li key={path}>
            {nameOf(path)}: <del>{inWords(before)}</del> → <ins>{inWords(after)}</ins>
          </li>
        ))}
      </ul>
      {data?.changes.length === 0 && <p>{t('noDifference')}</p>}
    </Confirm>
  );
}
