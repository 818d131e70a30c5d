import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { untilSilent } from '../../src/api/silence';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A body to which the test writes, and whether it was given up. */
function source() {
  let writes!: ReadableStreamDefaultController<Uint8Array>;
  const cancel = vi.fn();
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      writes = controller;
    },
    cancel,
  });
  return { body, cancel, say: (text: string) => writes.enqueue(new TextEncoder().encode(text)), writes };
}

async function heard(body: ReadableStream<Uint8Array>): Promise<string> {
  return new Response(body).text();
}

test('a stream that says something in time goes on, whatever it says', async () => {
  const { body, cancel, say, writes } = source();
  const all = heard(untilSilent(body));
  for (let beat = 0; beat < 10; beat++) {
    await vi.advanceTimersByTimeAsync(30_000);
    say(':');
    await vi.advanceTimersByTimeAsync(0);
  }
  writes.close();
  expect(await all).toBe('::::::::::');
  expect(cancel).not.toHaveBeenCalled();
  expect(vi.getTimerCount()).toBe(0);
});

test('a stream that has gone silent ends with what it had said', async () => {
  const { body, cancel, say } = source();
  const all = heard(untilSilent(body));
  say('one');
  await vi.advanceTimersByTimeAsync(60_000);
  expect(await all).toBe('one');
  expect(cancel).toHaveBeenCalled();
  expect(vi.getTimerCount()).toBe(0);
});

test('after a sleep a silent stream ends within seconds', async () => {
  const { body } = source();
  const all = heard(untilSilent(body));
  vi.setSystemTime(Date.now() + 3_600_000); // no timer runs while the machine sleeps
  await vi.advanceTimersByTimeAsync(5_000);
  expect(await all).toBe('');
});

test('a stream that fails, or is given up, is not listened to any longer', async () => {
  const failing = source();
  const all = heard(untilSilent(failing.body));
  failing.writes.error(new TypeError('network'));
  await expect(all).rejects.toThrow('network');
  const left = source();
  await untilSilent(left.body).cancel();
  expect(left.cancel).toHaveBeenCalled();
  expect(vi.getTimerCount()).toBe(0);
});
