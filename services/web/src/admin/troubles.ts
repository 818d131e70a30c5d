// Problems by importance, and what to do about them. Pure.
import type { Schemas } from '../api/client';
import { type Key, number, t } from '../i18n';

/** Seconds after which an event has waited too long, as in the alert. */
const LATE_SECONDS = 300;

export interface Seen {
  services: Schemas['ServiceStatus'][];
  backlogs?: Schemas['Backlog'][] | undefined;
  letters?: Schemas['DeadLetter'][] | undefined;
  documents?: Schemas['DocumentSummary'] | undefined;
}

export interface Trouble {
  what: string;
  todo: string;
}

const EFFECTS: Record<string, Key> = {
  ingestion: 'withoutIngestion',
  retrieval: 'withoutRetrieval',
  'knowledge-graph': 'withoutGraph',
  memory: 'withoutMemory',
  orchestrator: 'withoutOrchestrator',
};

export const isReady = ({ status }: Schemas['ServiceStatus']) => status === 'ready';

/** The number of documents waiting for a worker. */
const waitingDocuments = (documents: Schemas['DocumentSummary']) =>
  Object.values(documents.lanes ?? {}).reduce((sum, lane) => sum + lane.documents, 0);

export function troubles({ services, backlogs = [], letters = [], documents }: Seen): Trouble[] {
  const found: Trouble[] = services
    .filter((service) => !isReady(service))
    .map(({ name }) => {
      const effect = EFFECTS[name];
      return { what: [t('notWell', { name }), effect && t(effect)].filter(Boolean).join(' '), todo: t('todoService') };
    });
  if (documents?.workers === 0)
    found.push({ what: t('noWorker', { count: number(waitingDocuments(documents)) }), todo: t('todoWorker') });
  if (letters.length) {
    const names = [...new Set(letters.map(({ service }) => service))].sort().join(', ');
    found.push({ what: t('givenUp', { count: number(letters.length), names }), todo: t('todoGivenUp') });
  }
  for (const { service, stream, oldest_seconds: seconds } of backlogs)
    if (seconds > LATE_SECONDS)
      found.push({ what: t('behind', { service, stream, minutes: number(seconds / 60) }), todo: t('todoBehind') });
  const failed = documents?.by_status.failed ?? 0;
  if (failed) found.push({ what: t('documentsFailed', { count: number(failed) }), todo: t('todoDocuments') });
  return found;
}
