import { useQuery } from '@tanstack/react-query';
import { api, body, type Schemas } from '../api/client';
import { t } from '../i18n';
import style from '../shell/page.module.css';

const WATCHED_MILLISECONDS = 10_000;
const STATES = { ready: 'stateReady', not_ready: 'stateNotReady', unreachable: 'stateUnreachable' } as const;

/** One sentence on how the services are; what is wrong stands first. */
export function Status() {
  const { data, error } = useQuery({
    queryKey: ['status'],
    queryFn: () => body(api.GET('/v1/status')),
    refetchInterval: WATCHED_MILLISECONDS,
  });
  if (!data) return <p role="status">{error?.message ?? t('loading')}</p>;
  const services = [...data.services].sort((one, other) => Number(isReady(one)) - Number(isReady(other)));
  const wrong = services.filter((service) => !isReady(service)).map(({ name }) => name);
  return (
    <>
      <p role="status">
        <strong>{wrong.length ? t('notWell', { names: wrong.join(', ') }) : t('allWell')}</strong>{' '}
        <span className={style.quiet}>{t('versionOf', { version: data.version })}</span>
      </p>
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
    </>
  );
}

const isReady = ({ status }: Schemas['ServiceStatus']) => status === 'ready';

/** What keeps a hostile file from doing harm while it is converted. */
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
