import { afterEach, expect, test, vi } from 'vitest';
import { Problem } from '../../src/api/client';
import { ask, type RunEvent } from '../../src/api/events';

const record = (id: string, name: string, data: object) =>
  `id: ${id}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
const stream = (...parts: string[]) =>
  new Response(parts.join(''), { headers: { 'content-type': 'text/event-stream', location: '/v1/runs/r1' } });

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

function play(...answers: (() => Promise<Response>)[]) {
  const calls: { url: string; last: string | undefined; key: string | undefined }[] = [];
  vi.stubGlobal('localStorage', { getItem: () => null });
  vi.stubGlobal('document', Object.assign(new EventTarget(), { visibilityState: 'visible' }));
  vi.stubGlobal('fetch', async (url: string, init: RequestInit) => {
    const headers = new Headers(init.headers);
    calls.push({
      url,
      last: headers.get('last-event-id') ?? undefined,
      key: headers.get('idempotency-key') ?? undefined,
    });
    return answers.shift()!();
  });
  const seen: RunEvent[] = [];
  const signal = new AbortController().signal;
  const start = { path: '/v1/sessions/s1/messages', body: { content: 'Why?' }, key: 'k1' };
  return { calls, seen, done: ask(start, { signal, onEvent: (event) => seen.push(event) }) };
}

test('a cut stream goes on after the last event that came', async () => {
  const { calls, seen, done } = play(
    async () => stream(record('1-0', 'run_started', {}), record('1-1', 'message_delta', { text: 'a' }), 'id: 1-2\nda'),
    async () => stream(record('1-2', 'message_delta', { text: 'b' }), record('1-3', 'run_completed', {})),
  );
  await done;
  expect(seen.map((event) => event.id)).toEqual(['1-0', '1-1', '1-2', '1-3']);
  expect(calls[1]).toMatchObject({ url: '/v1/runs/r1/events', last: '1-1' });
});

test('while the server answers, a stream that breaks before its first event is asked for again within a second', async () => {
  vi.useFakeTimers();
  const broken = async () => stream();
  const { calls, done } = play(...Array(6).fill(broken), async () => stream(record('1-0', 'run_completed', {})));
  await vi.advanceTimersByTimeAsync(250 + 5 * 1000);
  expect(calls).toHaveLength(7);
  await done;
});

test('a question whose answer never came is asked again with the same key', async () => {
  const { calls, done } = play(
    async () => Promise.reject(new TypeError('network')),
    async () => stream(record('1-0', 'run_completed', {})),
  );
  await done;
  expect(calls.map((call) => call.key)).toEqual(['k1', 'k1']);
});

test('what the API refuses is told at once', async () => {
  const refusal = { type: 'invalid', detail: 'Too long.', status: 422 };
  const { done } = play(async () => Response.json(refusal, { status: 422 }));
  await expect(done).rejects.toThrow(new Problem(422, refusal).message);
});

/** Hides or shows the tab. */
function tab(visibilityState: DocumentVisibilityState) {
  Object.assign(document, { visibilityState });
  document.dispatchEvent(new Event('visibilitychange'));
}

test('a hidden tab lets its connection go, and goes on where it was when it is seen again', async () => {
  let cancelled = () => {};
  const isCancelled = new Promise<void>((resolve) => {
    cancelled = resolve;
  });
  const { calls, seen, done } = play(
    async () => {
      const body = new ReadableStream({
        start: (controller) =>
          controller.enqueue(new TextEncoder().encode(`${record('1-0', 'run_started', {})}id: 1-1\nevent: message`)),
        cancel: cancelled,
      });
      return new Response(body, { headers: { location: '/v1/runs/r1' } });
    },
    async () => stream(record('1-1', 'message_delta', { text: 'a' }), record('1-2', 'run_completed', {})),
  );
  await vi.waitFor(() => expect(seen).toHaveLength(1));
  tab('hidden');
  await isCancelled;
  await new Promise((resolve) => setTimeout(resolve));
  expect(calls).toHaveLength(1);
  tab('visible');
  await done;
  expect(seen.map((event) => event.id)).toEqual(['1-0', '1-1', '1-2']);
  expect(calls[1]).toMatchObject({ url: '/v1/runs/r1/events', last: '1-0' });
});

test('a question of a tab that is hidden at once is sent all the same', async () => {
  const { calls, done } = play(
    async () => Promise.reject(new TypeError('network')),
    async () => stream(record('1-0', 'run_started', {})),
    async () => stream(record('1-0', 'run_started', {}), record('1-1', 'run_completed', {})),
  );
  tab('hidden');
  await vi.waitFor(() => expect(calls).toHaveLength(2));
  tab('visible');
  await done;
});

test('wherever a stream is cut, each event comes once', async () => {
  vi.stubGlobal('addEventListener', (_: 'online', goOn: () => void) => queueMicrotask(goOn)); // without pauses
  const whole = [
    record('1-0', 'run_started', {}),
    record('1-1', 'message_delta', { text: 'a\u{1F600}\n\n' }),
    record('1-2', 'message_delta', { text: 'b' }),
    record('1-3', 'run_completed', {}),
  ];
  const bytes = new TextEncoder().encode(whole.join(''));
  const cutAt = (end: number) => new Response(bytes.slice(0, end), { headers: { location: '/v1/runs/r1' } });
  for (let end = 0; end < bytes.length; end++) {
    const { seen, done } = play(
      async () => cutAt(end),
      async () => {
        const last = seen.at(-1)?.id;
        return stream(...whole.slice(last === undefined ? 0 : 1 + Number(last.slice(2))));
      },
    );
    await done;
    expect(
      seen.map((event) => event.id),
      `cut at ${end}`,
    ).toEqual(['1-0', '1-1', '1-2', '1-3']);
  }
});
