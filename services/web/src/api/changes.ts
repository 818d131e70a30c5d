// What changes in the workspace. The windows of a browser, which has six connections to a host, share one for it.
import type { WorkspaceChanges } from './run-events';
import { pause, received } from './server-sent';
import { untilSilent } from './silence';
import { isHidden, onVisibility, visible } from './visibility';
import { workspaceHeaders } from './workspace';

export type Change = {
  [Name in keyof WorkspaceChanges]: { id: string; name: Name; data: WorkspaceChanges[Name] };
}[keyof WorkspaceChanges];

/** From the window that reads: the id of the change before, and the change. Without one, it answers who asks. */
interface Told {
  before: string;
  change?: Change;
}

const ASK = 'which change was the last one?';
const MISSED: Change = { id: '', name: 'missed', data: {} };

/**
 * Follows the changes that `whose` (a user in a workspace) may see, while the window is seen, until the signal aborts or
 * the caller may not see them. `missed` says that some may not have come.
 *
 * The window that holds the lock reads and tells the others. When it is closed or hidden, the next one goes on after the
 * last change that it knows.
 */
export async function followChanges(
  whose: string,
  signal: AbortSignal,
  onChange: (change: Change) => void,
): Promise<void> {
  const name = `attractor.changes.${whose}`;
  let last: string | undefined;
  let tries = 0;
  let isAllowed = true;

  const listen = (channel: BroadcastChannel) => {
    channel.onmessage = ({ data }: MessageEvent<Told | typeof ASK>) => {
      if (data === ASK) return;
      if (last !== undefined && last !== data.before) onChange(MISSED);
      last = data.change?.id ?? data.before;
      if (data.change) onChange(data.change);
    };
    channel.postMessage(ASK);
  };

  const read = async (channel: BroadcastChannel) => {
    const tell = (change: Change) => {
      channel.postMessage({ before: last!, change } satisfies Told);
      last = change.id;
      onChange(change);
    };
    const headers = { ...workspaceHeaders(), ...(last ? { 'last-event-id': last } : {}) };
    const response = await fetch('/v1/events', { headers, signal });
    isAllowed = ![401, 403, 404].includes(response.status);
    if (!response.ok) return;
    if (last === '') tell(MISSED);
    last ??= '';
    const answer = () => channel.postMessage({ before: last! } satisfies Told);
    channel.onmessage = ({ data }) => data === ASK && answer();
    answer(); // to those who asked too early
    for await (const change of received<Change>(untilSilent(response.body!))) {
      tries = 0;
      tell(change);
    }
  };

  while (isAllowed && !signal.aborted) {
    await visible(signal).catch(() => undefined); // aborted
    const waits = new AbortController();
    const forget = onVisibility(() => isHidden() && waits.abort());
    signal.addEventListener('abort', () => waits.abort(), { once: true, signal: waits.signal });
    const channel = new BroadcastChannel(name);
    try {
      listen(channel);
      // A page that did not come by TLS has no locks: each window reads for itself.
      if (navigator.locks) await navigator.locks.request(name, { signal: waits.signal }, () => read(channel));
      else await read(channel);
    } catch {
      if (signal.aborted) return;
    } finally {
      forget();
      waits.abort();
      channel.close();
    }
    await pause(tries++, signal).catch(() => undefined); // aborted
  }
}
