import { afterEach, expect, test, vi } from 'vitest';
import { type Change, followChanges } from '../../src/api/changes';
import { staleAfter } from '../../src/shell/use-changes';

const record = (id: string, name: string, data: object) =>
  `id: ${id}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
const stream = (...parts: string[]) => new Response(parts.join(''));

afterEach(() => vi.unstubAllGlobals());

async function follow(...answers: Response[]) {
  const ends = new AbortController();
  const asked: (string | null)[] = [];
  vi.stubGlobal('localStorage', { getItem: () => null });
  vi.stubGlobal('document', Object.assign(new EventTarget(), { visibilityState: 'visible' }));
  vi.stubGlobal('fetch', async (_: string, init: RequestInit) => {
    asked.push(new Headers(init.headers).get('last-event-id'));
    const answer = answers.shift();
    if (!answer) ends.abort();
    return answer ?? new Response(null, { status: 503 });
  });
  const seen: Change[] = [];
  await followChanges('ada.home', ends.signal, (change) => seen.push(change));
  return { asked, names: seen.map(({ name }) => name) };
}

test('a stream that ends is followed from the last change on', async () => {
  const { asked, names } = await follow(
    stream('id: 0\n\n', record('1', 'document', { document_id: 'd', state: 'stored' })),
    stream(record('2', 'document', { document_id: 'd', state: 'indexed' })),
  );
  expect(names).toEqual(['document', 'document']);
  expect(asked).toEqual([null, '1', '2']);
});

test('what may have changed while the connection was away, before any change came, is read again', async () => {
  expect((await follow(stream('id: 0\n\n'), stream())).names).toEqual(['missed']);
});

test('who may not see the changes does not ask again', async () => {
  expect((await follow(new Response(null, { status: 403 }))).asked).toEqual([null]);
});

test('a change makes only what shows it stale', () => {
  const data = { document_id: 'd', state: 'indexed' } as const;
  expect(staleAfter({ id: '1', name: 'document', data })).toContainEqual(['document', 'd']);
  expect(staleAfter({ id: '1', name: 'missed', data: {} })).toBeUndefined();
});

test('of several windows one reads and tells the others; when it is closed, the next one goes on after it', async () => {
  const asked: (string | null)[] = [];
  const streams: ReadableStreamDefaultController<Uint8Array>[] = [];
  vi.stubGlobal('localStorage', { getItem: () => null });
  vi.stubGlobal('document', Object.assign(new EventTarget(), { visibilityState: 'visible' }));
  vi.stubGlobal('fetch', async (_: string, { headers, signal }: RequestInit) => {
    asked.push(new Headers(headers).get('last-event-id'));
    const start = (controller: ReadableStreamDefaultController<Uint8Array>) => {
      streams.push(controller);
      signal!.addEventListener('abort', () => controller.error(signal!.reason));
    };
    return new Response(new ReadableStream({ start }));
  });
  const say = (id: string) =>
    streams.at(-1)!.enqueue(new TextEncoder().encode(record(id, 'document', { document_id: 'd', state: 'stored' })));
  const windows = Array.from({ length: 3 }, () => ({ ends: new AbortController(), seen: [] as string[] }));
  const follows = windows.map(({ ends, seen }) =>
    followChanges('ada.home', ends.signal, ({ name, id }) => seen.push(name === 'missed' ? name : id)),
  );
  await vi.waitUntil(() => streams.length > 0);
  await vi.waitUntil(async () => (await navigator.locks.query()).pending?.length === 2);
  say('1');
  await vi.waitUntil(() => windows.every(({ seen }) => seen.includes('1')));
  expect(asked).toEqual([null]);
  windows[0]!.ends.abort();
  await vi.waitUntil(() => streams.length > 1);
  say('2');
  await vi.waitUntil(() => windows.slice(1).every(({ seen }) => seen.includes('2')));
  expect(asked).toEqual([null, '1']);
  expect(windows.map(({ seen }) => seen)).toEqual([['1'], ['1', '2'], ['1', '2']]);
  for (const { ends } of windows) ends.abort();
  await Promise.all(follows);
});
