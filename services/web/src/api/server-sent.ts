// Server-sent events over fetch: each with its id, name and data.
import { createParser } from 'eventsource-parser';
import { isHidden, onVisibility } from './visibility';

const PAUSES = [250, 1000, 2000, 5000]; // milliseconds before each retry; the last one repeats

/** Ends early if the tab is hidden: a browser has six connections to a host for all its tabs. */
export async function* received<Event>(body: ReadableStream<Uint8Array>): AsyncGenerator<Event> {
  const waiting: Event[] = [];
  const parser = createParser({
    onEvent: ({ id, event, data }) => waiting.push({ id: id ?? '', name: event, data: JSON.parse(data) } as Event),
  });
  const reader = body.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>).getReader();
  const forget = onVisibility(() => isHidden() && void reader.cancel());
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      parser.feed(value);
      yield* waiting.splice(0);
    }
  } finally {
    forget();
  }
}

/** Waits before a retry, but not longer than until the network is back; rejects if the signal aborts. */
export function pause(tries: number, signal: AbortSignal): Promise<void> {
  const milliseconds = PAUSES[Math.min(tries, PAUSES.length - 1)]!;
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    const give = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    signal.addEventListener('abort', give, { once: true });
    globalThis.addEventListener?.('online', () => resolve(), { once: true, signal });
  });
}
