import type { Schemas } from '../api/client';
import type { Key } from '../i18n';

export type Status = Schemas['DocumentStatus'];
export const STATES = {
  processing: 'processing',
  searchable: 'searchable',
  failed: 'failed',
  cancelled: 'statusCancelled',
  deleting: 'statusDeleting',
} as const satisfies Record<Status, Key>;

/** Queries about documents that an action or somebody else may change soon, and that are therefore reloaded. */
export const isMoving = ({ status }: Schemas['Document']) => status === 'processing' || status === 'deleting';
