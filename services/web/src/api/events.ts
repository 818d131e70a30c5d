// The events of a run over fetch, with resumption: EventSource can neither POST nor start at a given event.
import { Problem, type Schemas } from './client';
import type { RunEvents } from './run-events';
import { pause, received } from './server-sent';
import { untilSilent } from './silence';
import { isHidden, visible } from './visibility';
import { workspaceHeaders } from './workspace';

export type RunEvent = {
  [Name in keyof RunEvents]: { id: string; name: Name; data: RunEvents[Name] };
}[keyof RunEvents];

export const TERMINAL: ReadonlySet<keyof RunEvents> = new Set(['run_completed', 'run_failed', 'run_cancelled']);

export interface Follow {
  signal: AbortSignal;
  onEvent: (event: RunEvent) => void;
  /** The connection is lost (true) or back (false). */
  onLost?: (lost: boolean) => void;
}

/** A request that queues a run: a question, or another answer to one. The key makes a repeated POST the same run. */
export interface Start {
  path: string;
  body: Schemas['MessageCreate'] | Schemas['MessageRegenerate'];
  key: string;
}

/** Sends the request, and follows the run to its end. Rejects with a Problem. */
export async function ask({ path, body, key }: Start, follow: Follow): Promise<void> {
  const start = () =>
    fetch(path, {
      method: 'POST',
      headers: {
        ...workspaceHeaders(),
        'content-type': 'application/json',
        accept: 'text/event-stream',
        'idempotency-key': key,
      },
      body: JSON.stringify(body),
      signal: follow.signal,
    });
  await pump(start, undefined, follow);
}

/** Follows a run by its id, from its first event on. */
export const attach = (runId: string, follow: Follow): Promise<void> => pump(undefined, runId, follow);

async function pump(first: (() => Promise<Response>) | undefined, run: string | undefined, follow: Follow) {
  let last = '';
  let tries = 0;
  let ended = false;
  while (!ended) {
    try {
      if (run !== undefined) await visible(follow.signal);
      const response = await (run === undefined && first ? first() : events(run!, last, follow.signal));
      if (response.status === 204) return; // no events are left
      if (!response.ok) throw await Problem.of(response);
      run ??= response.headers.get('location')?.split('/').at(-1);
      follow.onLost?.(false);
      tries = Math.min(tries, 1); // the server answers, though a connection that breaks may take its events with it
      for await (const event of received<RunEvent>(untilSilent(response.body!))) {
        tries = 0;
        last = event.id;
        follow.onEvent(event);
        ended = TERMINAL.has(event.name);
      }
    } catch (error) {
      if (follow.signal.aborted || (error instanceof Problem && error.status < 500)) throw error;
    }
    if (!ended && !(run !== undefined && isHidden())) {
      follow.onLost?.(true);
      await pause(tries++, follow.signal);
    }
  }
}

const events = (run: string, last: string, signal: AbortSignal) =>
  fetch(`/v1/runs/${run}/events`, {
    headers: { ...workspaceHeaders(), ...(last ? { 'last-event-id': last } : {}) },
    signal,
  });
