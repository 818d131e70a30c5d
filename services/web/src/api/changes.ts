// What changes in the workspace, over one connection while the tab is seen.
import type { WorkspaceChanges } from './run-events';
import { pause, received } from './server-sent';
import { visible } from './visibility';
import { workspaceHeaders } from './workspace';

export type Change = {
  [Name in keyof WorkspaceChanges]: { id: string; name: Name; data: WorkspaceChanges[Name] };
}[keyof WorkspaceChanges];

/**
 * Follows the workspace's changes until the signal aborts, or the caller may not see them. `missed` says that some may
 * not have come.
 */
export async function followChanges(signal: AbortSignal, onChange: (change: Change) => void): Promise<void> {
  let last: string | undefined;
  let tries = 0;
  while (!signal.aborted) {
    try {
      await visible(signal);
      const headers = { ...workspaceHeaders(), ...(last ? { 'last-event-id': last } : {}) };
      const response = await fetch('/v1/events', { headers, signal });
      if ([401, 403, 404].includes(response.status)) return;
      if (response.ok) {
        if (last === '') onChange({ id: '', name: 'missed', data: {} });
        last ??= '';
        for await (const change of received<Change>(response.body!)) {
          tries = 0;
          last = change.id;
          onChange(change);
        }
      }
    } catch {
      if (signal.aborted) return;
    }
    await pause(tries++, signal).catch(() => undefined); // aborted
  }
}
