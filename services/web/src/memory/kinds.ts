import type { Schemas } from '../api/client';
import type { Key } from '../i18n';

export type Kind = Schemas['MemoryKind'];
export const KINDS = {
  fact: 'kindFact',
  preference: 'kindPreference',
  style: 'kindStyle',
  note: 'kindNote',
  episode: 'kindEpisode',
} as const satisfies Record<Kind, Key>;
