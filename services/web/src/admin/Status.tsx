import { useQuery } from '@tanstack/react-query';
import { api, body, type Schemas } from '../api/client';
import { t } from '../i18n';
import style from '../shell/page.module.css';
import { DeadLetters } from './DeadLetters';
import { FailedRuns } from './FailedRuns';
import { Queues } from './Queues';
import { isReady, troubles } from './troubles';

const WATCHED_MILLISECONDS = 10_000;
const STATES = { ready: 'stateReady', not_ready: 'stateNotReady', unreachable: 'stateUnreachable' } as const;

/** Problems with what to do come first, then services, and for owners queues and dead letters. */
export function Status({ caller }: { caller: Schemas['Caller'] }) {
  const enabled = caller.role === 'owner';
  const watched = { refetchInterval: WATCHED_MILLISECONDS };
  const { data, error } = useQuery({
    queryKey: ['status'],
    queryFn: () => body(api.GET('/v1/status')),
    ...watched,
  });
  const backlogs = useQuery({
    queryKey: ['backlogs'],
    queryFn: () => body(api.GET('/v1/backlogs')),
    enabled,
    ...watched,
  });
  const letters = useQuery({
    queryKey: ['dead-letters'],
    queryFn: () => body(api.GET('/v1/dead-letters', { params: { query: { limit: 200 } } })),
    enabled,
    ...watched,
  });
  const documents = useQuery({
    queryKey: ['documents-summary', 'operations'],
    queryFn: () => body(api.GET('/v1/documents/summary')),
    enabled,
    ...watched,
  });
  if (!data) return <p role="status">{error?.message ?? t('loading')}</p>;
  const services = [...data.services].sort((one, other) => Number(isReady(one)) - Number(isReady(other)));
  const wrong = troubles({
    services,
    backlogs: backlogs.data?.items,
    letters: letters.data?.items,
    documents: documents.data,
  });
  const unread = [backlogs, letters, documents].find((query) => query.error)?.error;
  return (
    <>
      <div role="status">
        {wrong.length === 0 && (
          <p>
            <strong>{t('allWell')}</strong>{' '}
            <span className={style.quiet}>{t('versionOf', { version: data.version })}</span>
          </p>
        )}
        <ul className={style.rows}>
          {wrong.map(({ what, todo }) => (
            <li key={what} className={style.trouble}>
              <strong>{what}</strong>
              <span>{todo}</span>
            </li>
          ))}
        </ul>
      </div>
      <p role="alert" className={style.error}>
        {unread?.message}
      </p>
      {letters.data && <DeadLetters letters={letters.data.items} />}
      <h2>{t('services')}</h2>
      <ul className={style.rows}>
        {services.map((service) => (
          <li key={service.name}>
            <span className={style.words}>
              <strong>{service.name}</strong>
              {service.detail && <span>{service.detail}</span>}
              {Boolean(service.walls?.length) && <Walls walls={service.walls!} />}
            </span>
            <span className={style.badge} data-tone={isReady(service) ? 'good' : 'bad'}>
              {t(STATES[service.status])}
            </span>
          </li>
        ))}
      </ul>
      {backlogs.data && <Queues backlogs={backlogs.data.items} documents={documents.data} />}
      <FailedRuns />
      {wrong.length > 0 && <p className={style.quiet}>{t('versionOf', { version: data.version })}</p>}
    </>
  );
}

/** The walls that keep a hostile file from doing harm during conversion. */
function Walls({ walls }: { walls: Schemas['WallStatus'][] }) {
  const active = walls.filter((wall) => wall.active).length;
  return (
    <details className={style.quiet}>
      <summary>{t('walls', { active, all: walls.length })}</summary>
      <ul>
        {walls.map(({ name, active: on, detail }) => (
          <li key={name}>
            {name}: {t(on ? 'wallUp' : 'wallDown')}, {detail}
          </li>
        ))}
      </ul>
    </details>
  );
}
