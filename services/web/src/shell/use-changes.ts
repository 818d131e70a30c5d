import { type QueryKey, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { type Change, followChanges } from '../api/changes';
import type { Schemas } from '../api/client';

const TOGETHER_MILLISECONDS = 1000;

/** Returns the keys of what a change is seen in; undefined means everything. */
export function staleAfter({ name, data }: Change): QueryKey[] | undefined {
  switch (name) {
    case 'document':
      return [['documents'], ['documents-summary'], ['summary'], ['document', data.document_id]];
    case 'synchronisation':
      return [['sources']];
    case 'run':
      return [['sessions'], ['messages', data.session_id], ['all-runs'], ['failed-runs']];
    case 'artifact':
      return [['artifact', data.session_id]];
    case 'dead_letter':
      return [['dead-letters'], ['backlogs']];
    case 'missed':
      return undefined;
  }
}

/** Reads again what is shown to the caller when others, or another tab, change it; at most once a second. */
export function useChanges(caller: Schemas['Caller'] | undefined) {
  const whose = caller && `${caller.user.id}.${caller.workspace.id}`;
  const client = useQueryClient();
  useEffect(() => {
    if (!whose) return;
    const ends = new AbortController();
    const stale = new Map<string, QueryKey | undefined>();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const reread = () => {
      timer = undefined;
      for (const queryKey of stale.values()) void client.invalidateQueries(queryKey && { queryKey });
      stale.clear();
    };
    const note = (change: Change) => {
      for (const key of staleAfter(change) ?? [undefined]) stale.set(JSON.stringify(key) ?? '', key);
      timer ??= setTimeout(reread, TOGETHER_MILLISECONDS);
    };
    void followChanges(whose, ends.signal, note);
    return () => {
      ends.abort();
      clearTimeout(timer);
    };
  }, [client, whose]);
}
