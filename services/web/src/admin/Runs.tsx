import { keepPreviousData, useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from 'react-aria-components';
import { Link } from 'wouter';
import { api, body, type Schemas } from '../api/client';
import { explained, type Key, number, t, told, when, worded } from '../i18n';
import { Choice } from '../shell/Choice';
import style from '../shell/page.module.css';
import { useNames } from './use-names';

type Run = Schemas['Run'];
type Used = Schemas['RunUsage'];
type Status = Schemas['RunStatus'];
const STATES = {
  queued: 'runQueued',
  running: 'processing',
  completed: 'stageDone',
  failed: 'failed',
  cancelled: 'statusCancelled',
} as const satisfies Record<Status, Key>;
const TONES: Partial<Record<Status, string>> = { completed: 'good', failed: 'bad' };

/** Answers as runs, newest first: how each went, how long it took, what it used. Owners see those of all. */
export function Runs({ caller }: { caller: Schemas['Caller'] }) {
  const client = useQueryClient();
  const nameOf = useNames(caller);
  const [status, setStatus] = useState<Status | 'all'>('all');
  const [whose, setWhose] = useState<'mine' | 'all'>('mine');
  const { data, error, hasNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: ['all-runs', whose, status],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam }): Promise<{ items: (Run | Used)[]; next_cursor?: string | null }> => {
      const query = {
        limit: 50,
        ...(status !== 'all' && { status: [status] }),
        ...(pageParam && { cursor: pageParam }),
      };
      const params = { params: { query } };
      return whose === 'mine' ? body(api.GET('/v1/runs', params)) : body(api.GET('/v1/usage/runs', params));
    },
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    placeholderData: keepPreviousData,
  });
  const retry = useMutation({
    mutationFn: (id: string) => api.POST('/v1/runs/{run_id}/retry', { params: { path: { run_id: id } } }),
    onSuccess: () => client.invalidateQueries({ queryKey: ['all-runs'] }),
  });
  const runs = data?.pages.flatMap(({ items }) => items);
  const options = (Object.keys(STATES) as Status[]).map((value) => ({ value, name: t(STATES[value]) }));
  return (
    <>
      <div className={style.form}>
        {caller.role === 'owner' && (
          <Choice
            label={t('whoseRuns')}
            value={whose}
            options={[
              { value: 'mine', name: t('runsOfMine') },
              { value: 'all', name: t('runsOfAll') },
            ]}
            onChange={setWhose}
          />
        )}
        <Choice
          label={t('state')}
          value={status}
          options={[{ value: 'all', name: t('all') }, ...options]}
          onChange={setStatus}
        />
      </div>
      <p role="alert" className={style.error}>
        {retry.error?.message}
      </p>
      <p role="status">
        {error?.message ?? (runs ? runs.length === 0 && t(status === 'all' ? 'noRuns' : 'nothingFound') : t('loading'))}
      </p>
      <ul className={style.rows}>
        {runs?.map((run) =>
          'user_id' in run ? (
            <OthersRow key={run.id} run={run} name={nameOf(run.user_id)} />
          ) : (
            <Row key={run.id} run={run} onRetry={() => retry.mutate(run.id)} />
          ),
        )}
      </ul>
      {hasNextPage && <Button onPress={() => fetchNextPage()}>{t('more')}</Button>}
    </>
  );
}

/** A run of anyone, without its conversation. */
function OthersRow({ run, name }: { run: Used; name: string }) {
  return (
    <li>
      <span className={style.words}>
        {`${name}, ${when(run.created_at)}`}
        <span className={style.quiet}>{measures(run).join(' · ')}</span>
        {run.error_type && <span>{told(run.error_type, run.error_type.replaceAll('-', ' '))}</span>}
      </span>
      <span className={style.badge} data-tone={TONES[run.status]}>
        {t(STATES[run.status])}
      </span>
    </li>
  );
}

function Row({ run, onRetry }: { run: Run; onRetry: () => void }) {
  const {
    session_id: session,
    status,
    created_at: created,
    error_type: type,
    error_message: reason,
    issues,
    steps_executed: steps,
  } = run;
  const notes = [...new Set([...(reason ? [explained(type, reason)] : []), ...issues.map(worded)])];
  return (
    <li>
      <span className={style.words}>
        <Link href={`/c/${session}`}>{when(created)}</Link>
        <span className={style.quiet}>{measures(run).join(' · ')}</span>
        {notes.map((note) => (
          <span key={note}>{note}</span>
        ))}
        {Boolean(steps?.length) && (
          <details className={style.quiet}>
            <summary>{t('steps')}</summary>
            <ol>
              {steps!.map((step, index) => (
                <li key={index}>{worded(step)}</li>
              ))}
            </ol>
          </details>
        )}
      </span>
      <span className={style.badge} data-tone={TONES[status]}>
        {t(STATES[status])}
      </span>
      {status === 'failed' && (
        <Button onPress={onRetry} aria-label={`${t('retry')}: ${when(created)}`}>
          {t('retry')}
        </Button>
      )}
    </li>
  );
}

/** How long a run took and what it used. */
function measures({ started_at: from, finished_at: to, attempts, usage }: Run | Used): string[] {
  const found: string[] = [];
  if (from && to) found.push(t('inSeconds', { seconds: number((Date.parse(to) - Date.parse(from)) / 1000, 1) }));
  if (attempts > 1) found.push(t('attempts', { count: attempts }));
  if (usage?.calls) {
    found.push(`${t('calls')}: ${number(usage.calls)}`, `${t('tokensIn')}: ${number(usage.input_tokens)}`);
    found.push(`${t('tokensOut')}: ${number(usage.output_tokens)}`);
    if (typeof usage.cost === 'number') found.push(`${t('cost')}: ${number(usage.cost, 4)}`);
  }
  return found;
}
