import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Deletions, type Receipt } from '../../src/shell/undo';

const RECEIPT: Receipt = { sentence: 'Nothing of it is left.', parts: [] };
let sent: string[];
let deletions: Deletions;
const remove = (key: string, answer: () => Promise<Receipt | undefined> = async () => RECEIPT) =>
  deletions.later({
    key,
    text: key,
    send: () => {
      sent.push(key);
      return answer();
    },
  });
const states = () => deletions.shown().map(({ key, state }) => `${key} ${state}`);

beforeEach(() => {
  vi.useFakeTimers();
  sent = [];
  deletions = new Deletions();
});
afterEach(() => vi.useRealTimers());

test('what is deleted disappears at once, and is deleted a moment later, with its receipt', async () => {
  remove('a');
  expect([...deletions.hidden()]).toEqual(['a']);
  expect(sent).toEqual([]);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(sent).toEqual(['a']);
  expect(states()).toEqual(['a done']);
  expect(deletions.receipts()).toMatchObject([{ key: 'a', receipt: RECEIPT }]);
  await vi.advanceTimersByTimeAsync(20_000);
  expect(states()).toEqual([]);
  expect(deletions.receipts()).toHaveLength(1);
});

test('what is undone is there again, and nothing was sent', async () => {
  const undone = vi.fn();
  deletions.later({ key: 'a', text: 'a', send: async () => void sent.push('a'), undone });
  deletions.undo('a');
  await vi.advanceTimersByTimeAsync(120_000);
  expect(sent).toEqual([]);
  expect(deletions.hidden().size).toBe(0);
  expect(states()).toEqual([]);
  expect(undone).toHaveBeenCalledOnce();
});

test('when the page is left, what waits is sent, once', async () => {
  remove('a');
  remove('b');
  deletions.undo('b');
  await deletions.flush();
  await vi.advanceTimersByTimeAsync(120_000);
  expect(sent).toEqual(['a']);
});

test('while somebody is at the message the clock stands, but not for ever', async () => {
  remove('a');
  deletions.hold('a');
  await vi.advanceTimersByTimeAsync(30_000);
  expect(sent).toEqual([]);
  deletions.release('a');
  deletions.hold('a');
  await vi.advanceTimersByTimeAsync(30_000);
  expect(sent).toEqual(['a']);
});

test('what was refused is there again, with the reason', async () => {
  remove('a', () => Promise.reject(new Error('Ingestion does not answer.')));
  await vi.advanceTimersByTimeAsync(10_000);
  expect(deletions.hidden().size).toBe(0);
  expect(deletions.shown()).toMatchObject([{ state: 'failed', error: 'Ingestion does not answer.' }]);
  remove('a'); // it can be tried again
  expect(deletions.hidden().size).toBe(1);
});
