// The stages of a document's processing in words. Pure.
import type { Schemas } from '../api/client';
import { explained, isEnglish, type Key, number, t } from '../i18n';

type Stage = Schemas['Stage'];
const NAMES = {
  store: 'stageStore',
  convert: 'stageConvert',
  chunk: 'stageChunk',
  embed: 'stageEmbed',
  index: 'stageIndex',
  graph: 'stageGraph',
} as const satisfies Record<Stage['name'], Key>;
const STATES = {
  waiting: 'stageWaiting',
  queued: 'stageQueued',
  running: 'processing',
  succeeded: 'stageDone',
  failed: 'failed',
  cancelled: 'statusCancelled',
} as const satisfies Record<Stage['status'], Key>;

/** A stage with its state, in a line. */
export const lineOf = (stage: Stage) => `${t(NAMES[stage.name])}: ${[...said(stage)].join(' · ')}`;

/** Says where the processing of a document is; the API's sentence is in English alone, and its stage says the same. */
export function stateInWords({ explanation, stages }: Schemas['DocumentDetail']): string | undefined {
  const stage = stages.find(({ status }) => status !== 'succeeded');
  return isEnglish() ? (explanation ?? undefined) : stage && lineOf(stage);
}

function* said({ status, seconds, attempts, page, pages, error_class: type, error_message: why }: Stage) {
  yield t(STATES[status]);
  if (page && pages) yield t('pageOf', { page, pages });
  if (seconds !== null) yield t('inSeconds', { seconds: number(seconds, 1) });
  if (attempts > 1) yield t('attempts', { count: attempts });
  if (why) yield explained(type, why);
}
