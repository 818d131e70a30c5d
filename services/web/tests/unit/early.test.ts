import { afterEach, expect, test, vi } from 'vitest';

afterEach(() => vi.unstubAllGlobals());

/** Opens the page at an address; each request gets the next answer. */
async function opened(address: string, ...answers: (Response | Error)[]) {
  const sent: (string | null)[] = [];
  const { pathname, hash } = new URL(address, 'http://attractor.test');
  vi.stubGlobal('location', { pathname, hash });
  vi.stubGlobal('localStorage', { getItem: () => 'w' });
  vi.stubGlobal('fetch', async (_: unknown, init?: RequestInit) => {
    sent.push(new Headers(init?.headers).get('x-workspace-id'));
    const answer = answers.shift()!;
    if (answer instanceof Error) throw answer;
    return answer;
  });
  vi.resetModules();
  return { sent, ...(await import('../../src/session/early')) };
}

const request = new Request('http://attractor.test/v1/me');

test('who uses the page is asked before anything is drawn, for the chosen workspace, and again only later', async () => {
  const [early, later] = [new Response('early'), new Response('later')];
  const { sent, fetchMe } = await opened('/c/1', early, later);
  expect(sent).toEqual(['w']);
  expect(await fetchMe(request)).toBe(early);
  expect(sent).toHaveLength(1);
  expect(await fetchMe(request)).toBe(later);
});

test('a link that signs in, an invitation and a shared conversation ask for no user before', async () => {
  for (const address of ['/#code=abc', '/join#token', '/shared#token'])
    expect((await opened(address)).sent).toEqual([]);
});

test('an early request that finds no server fails where its response is wanted, and the next one is sent', async () => {
  const later = new Response('later');
  const { fetchMe } = await opened('/', new TypeError('no network'), later);
  await expect(fetchMe(request)).rejects.toThrow('no network');
  expect(await fetchMe(request)).toBe(later);
});
