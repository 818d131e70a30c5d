import type { Schemas } from '../api/client';
import { type Key, number, t } from '../i18n';
import style from '../shell/page.module.css';

interface Props {
  backlogs: Schemas['Backlog'][];
  documents: Schemas['DocumentSummary'] | undefined;
}

const LANES = { interactive: 'laneInteractive', bulk: 'laneBulk' } as const satisfies Record<Schemas['Lane'], Key>;

/** Queued work: documents waiting for workers by lane, events waiting for services. */
export function Queues({ backlogs, documents }: Props) {
  const lanes = Object.entries(documents?.lanes ?? {}) as [Schemas['Lane'], Schemas['WaitingForWorker']][];
  return (
    <>
      <h2>{t('queues')}</h2>
      {typeof documents?.workers === 'number' && <p>{t('workersAlive', { count: number(documents.workers) })}</p>}
      <div className={style.table} tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th>{t('queue')}</th>
              <th className={style.number}>{t('waiting')}</th>
              <th className={style.number}>{t('inHand')}</th>
              <th className={style.number}>{t('oldest')}</th>
            </tr>
          </thead>
          <tbody>
            {lanes.map(([lane, { documents: count, oldest_seconds: seconds }]) => (
              <Row key={lane} name={t(LANES[lane])} waiting={count} seconds={count ? seconds : undefined} />
            ))}
            {backlogs.map(({ service, stream, waiting, held, oldest_seconds: seconds }) => (
              <Row
                key={`${stream} ${service}`}
                name={t('eventsFor', { service, stream })}
                waiting={waiting ?? undefined}
                held={held}
                seconds={waiting || held ? seconds : undefined}
              />
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

interface RowProps {
  name: string;
  waiting: number | undefined;
  held?: number;
  seconds: number | undefined;
}

function Row({ name, waiting, held, seconds }: RowProps) {
  const told = (value: number | undefined) => (value === undefined ? '–' : number(value));
  return (
    <tr>
      <td>{name}</td>
      <td className={style.number}>{told(waiting)}</td>
      <td className={style.number}>{told(held)}</td>
      <td className={style.number}>{seconds === undefined ? '–' : t('inSeconds', { seconds: number(seconds) })}</td>
    </tr>
  );
}
