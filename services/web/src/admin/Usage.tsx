import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api, body, type Schemas } from '../api/client';
import { day, number, t, when } from '../i18n';
import style from '../shell/page.module.css';
import { useNames } from './use-names';

type Entry = Schemas['UsageEntry'];
const SUBJECTS = { run: 'perRun', user: 'perUser', key: 'perKey', workspace: 'perWorkspace' } as const;

/** Model usage of the last thirty days: the user's own; for owners, that of every member. */
export function Usage({ caller }: { caller: Schemas['Caller'] }) {
  const isOwner = caller.role === 'owner';
  const nameOf = useNames(caller);
  const { data, error } = useQuery({
    queryKey: ['usage', isOwner],
    queryFn: () => {
      const by: Schemas['UsageGroup'][] = isOwner ? ['day', 'model', 'user'] : ['day', 'model'];
      return body(api.GET('/v1/usage', { params: { query: { by } } }));
    },
  });
  if (!data) return <p role="status">{error?.message ?? t('loading')}</p>;
  return (
    <>
      <p className={style.quiet}>{t('usageFromTo', { from: day(data.since), to: day(data.until) })}</p>
      {data.budgets.map(({ subject, used, reserved, most, resets_at: resets }) => (
        <p key={subject}>
          <label>
            {t(SUBJECTS[subject])}{' '}
            <meter min={0} max={most} high={0.9 * most} value={Math.min(used + reserved, most)} />
          </label>{' '}
          <span className={style.quiet}>
            {t('budget', { used: number(used), most: number(most), when: when(resets) })}
          </span>
        </p>
      ))}
      {isOwner && <Link href="/admin/limits">{t('changeLimits')}</Link>}
      {data.items.length === 0 ? <p>{t('noUsage')}</p> : <Table items={data.items} nameOf={nameOf} isOwner={isOwner} />}
    </>
  );
}

interface TableProps {
  items: Entry[];
  nameOf: (userId: string | null) => string;
  isOwner: boolean;
}

function Table({ items, nameOf, isOwner }: TableProps) {
  return (
    <div className={style.table} tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th>{t('dayOf')}</th>
            {isOwner && <th>{t('name')}</th>}
            <th>{t('model')}</th>
            <th className={style.number}>{t('calls')}</th>
            <th className={style.number}>{t('tokensIn')}</th>
            <th className={style.number}>{t('tokensOut')}</th>
            <th className={style.number}>{t('cost')}</th>
          </tr>
        </thead>
        <tbody>
          {items.map((entry, index) => (
            <tr key={index}>
              <td>{entry.day && day(entry.day)}</td>
              {isOwner && <td>{nameOf(entry.user_id)}</td>}
              <td>{entry.model}</td>
              <td className={style.number}>{number(entry.calls)}</td>
              <td className={style.number}>{number(entry.input_tokens)}</td>
              <td className={style.number}>{number(entry.output_tokens)}</td>
              <td className={style.number}>{typeof entry.cost === 'number' ? number(entry.cost, 4) : '–'}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
