import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api, body } from '../api/client';
import { explained, t, when } from '../i18n';
import style from '../shell/page.module.css';

/** The user's latest failed answers, each with its reason and conversation. */
export function FailedRuns() {
  const { data } = useQuery({
    queryKey: ['failed-runs'],
    queryFn: () => body(api.GET('/v1/runs', { params: { query: { status: ['failed'], limit: 5 } } })),
  });
  if (!data?.items.length) return null;
  return (
    <>
      <h2>{t('failedRuns')}</h2>
      <ul className={style.rows}>
        {data.items.map((run) => (
          <li key={run.id}>
            <span className={style.words}>
              {explained(run.error_type, run.error_message ?? t('failed'))}
              <span className={style.quiet}>{when(run.created_at)}</span>
            </span>
            <Link href={`/c/${run.session_id}`}>{t('openConversation')}</Link>
          </li>
        ))}
      </ul>
    </>
  );
}
