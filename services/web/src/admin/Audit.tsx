import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useDeferredValue, useState } from 'react';
import { Button, Input, Label, SearchField } from 'react-aria-components';
import { api, body, type Schemas } from '../api/client';
import { type Key, t, when } from '../i18n';
import { Choice } from '../shell/Choice';
import style from '../shell/page.module.css';
import { useNames } from './use-names';

type Result = Schemas['AuditResult'];
const RESULTS = { done: 'resultDone', refused: 'resultRefused', failed: 'resultFailed' } as const satisfies Record<
  Result,
  Key
>;

/** Who did what in the workspace, newest first. */
export function Audit({ caller }: { caller: Schemas['Caller'] }) {
  const nameOf = useNames(caller);
  const [text, setText] = useState('');
  const [result, setResult] = useState<Result | 'all'>('all');
  const action = useDeferredValue(text.trim());
  const { data, error, hasNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: ['audit', action, result],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam }) => {
      const filters = { ...(action && { action }), ...(result !== 'all' && { result }) };
      const query = { limit: 50, ...filters, ...(pageParam ? { cursor: pageParam } : {}) };
      return body(api.GET('/v1/audit', { params: { query } }));
    },
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    placeholderData: keepPreviousData,
  });
  const entries = data?.pages.flatMap((page) => page.items);
  const results = (Object.keys(RESULTS) as Result[]).map((value) => ({ value, name: t(RESULTS[value]) }));
  return (
    <>
      <div className={style.form}>
        <SearchField className={style.grow!} value={text} onChange={setText}>
          <Label>{t('auditAction')}</Label>
          <Input maxLength={100} />
        </SearchField>
        <Choice
          label={t('result')}
          value={result}
          options={[{ value: 'all', name: t('all') }, ...results]}
          onChange={setResult}
        />
      </div>
      <p role="status">{error?.message ?? (entries ? entries.length === 0 && t('nothingFound') : t('loading'))}</p>
      <ul className={style.rows}>
        {entries?.map((entry) => (
          <Row key={entry.id} entry={entry} name={nameOf(entry.user_id)} />
        ))}
      </ul>
      {hasNextPage && <Button onPress={() => fetchNextPage()}>{t('more')}</Button>}
    </>
  );
}

function Row({ entry, name }: { entry: Schemas['AuditEntry']; name: string }) {
  const { action, at, result, status, address, target_id: target, detail, trace_id: trace } = entry;
  const facts = [target && `${t('target')} ${target}`, address, trace && `trace_id ${trace}`].filter(Boolean);
  return (
    <li>
      <span className={style.words}>
        <strong>{action}</strong>
        <span className={style.quiet}>{`${when(at)} · ${name}`}</span>
        <details className={style.quiet}>
          <summary>{t('details')}</summary>
          <p>{facts.join('\n')}</p>
          {Object.keys(detail).length > 0 && <p>{JSON.stringify(detail, null, 1)}</p>}
        </details>
      </span>
      <span className={style.badge} data-tone={result === 'done' ? 'good' : 'bad'}>
        {t(RESULTS[result])} {status}
      </span>
    </li>
  );
}
