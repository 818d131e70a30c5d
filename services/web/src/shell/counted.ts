import { type Key, t, told } from '../i18n';

/** Readable names of what receipts count. */
const COUNTED: Record<string, Key> = {
  memory: 'memoriesCounted',
  episode: 'episodesCounted',
  fact: 'factsCounted',
  fact_source: 'sourcesCounted',
  memory_source: 'notesSourcesCounted',
  vectors: 'vectorsCounted',
  postings: 'postingsCounted',
  world: 'worldCounted',
  world_event: 'worldEventsCounted',
};

export const nameOf = (kind: string): string =>
  COUNTED[kind] ? t(COUNTED[kind]) : told(`counted.${kind}`, kind.replaceAll('_', ' '));
