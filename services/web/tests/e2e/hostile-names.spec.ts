import type { APIRequestContext, Page } from '@playwright/test';
import { ask, bearer, expect, newWorkspace, settled, signIn, test } from './fixtures';
import { expectHarmless, hostile, MARKDOWN, NOT_WRITABLE, SETS } from './hostile';

const MOST = 40;
const LONGEST = 100; // characters, which every name may have
const FEW = 6;
// What browsers, templates, shells and terminals act on
const TELLING = [
  /<\w/,
  /<(script|img|iframe|svg|object|embed|base|meta|link|style|form|a)\b/i,
  /\bon\w+\s*=/i,
  /javascript:|data:|vbscript:|file:/i,
  /\/\/|\]\(/,
  /["'`]/,
  /[\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/,
  /\{\{|\$\{|%\w|\$\(/,
  /--|;|\.\.\//,
  /[\u0300-\u036f]{3}/,
];
const plain = (text: string) => text.replace(/\s+/g, ' ').trim();

/** The strings of both sets that most may go wrong with. */
function sample(): string[] {
  const names = [...MARKDOWN, ...SETS.flatMap(hostile)].map((text) =>
    plain(Array.from(text.replace(NOT_WRITABLE, '')).slice(0, LONGEST).join('')),
  );
  const weight = (text: string) => TELLING.filter((each) => each.test(text)).length;
  return [...new Set(names.filter(Boolean))].sort((one, other) => weight(other) - weight(one)).slice(0, MOST);
}

interface Made {
  documents: string[];
  sessions: { id: string; title: string }[];
  memories: string[];
  people: string[];
  keys: string[];
  entities: string[];
}

/** Makes things with these names and texts; returns them as the API has them. */
async function make(request: APIRequestContext, key: string, names: readonly string[]): Promise<Made> {
  const headers = bearer(key);
  const send = async (method: 'post' | 'patch' | 'put', path: string, options: object) => {
    const answer = await request[method](path, { headers, ...options });
    expect(answer.ok(), `${path}: ${await answer.text()}`).toBe(true);
    return answer.json();
  };
  const { workspace } = await (await request.get('/v1/me', { headers })).json();
  const place = `/v1/workspaces/${workspace.id}`;
  const made: Made = { documents: [], sessions: [], memories: [], people: [], keys: [], entities: [] };
  const ids: string[] = [];
  for (const [index, text] of names.entries()) {
    const buffer = Buffer.from(`The zebra marker ${index} says ${text}\n`);
    const file = { name: `${text.replace(/[/\\\r\n]/g, ' ')}.txt`, mimeType: 'text/plain', buffer };
    const { files } = await send('post', '/v1/documents', { multipart: { files: file } });
    const { id } = files[0].document;
    ids.push(id);
    const data = { title: text, tags: [text] };
    if (index % 2) made.documents.push(files[0].document.name);
    else made.documents.push((await send('patch', `/v1/documents/${id}`, { data })).title);
    made.memories.push((await send('post', '/v1/memories', { data: { content: `${text} (${index})` } })).content);
  }
  for (const text of names) {
    const { id } = await send('post', '/v1/sessions', { data: {} });
    made.sessions.push({ id, title: (await send('patch', `/v1/sessions/${id}`, { data: { title: text } })).title });
  }
  for (const [index, text] of names.slice(0, FEW).entries()) {
    const artifact = { title: text, text: names.join('\n\n') };
    await send('put', `/v1/sessions/${made.sessions[index]!.id}/artifact`, { data: artifact });
    await send('post', '/v1/quick-actions', { data: { name: text, prompt: text } });
    made.keys.push((await send('post', `${place}/keys`, { data: { name: text, role: 'viewer' } })).name);
    const { token } = await send('post', `${place}/invitations`, { data: { role: 'viewer' } });
    made.people.push(plain(text));
    const joined = await request.post('/v1/invitations/accept', { data: { token, name: text } });
    expect(joined.ok(), await joined.text()).toBe(true);
    await send('post', '/v1/world/operations', { data: { operations: [{ op: 'add', path: '/goals', value: text }] } });
  }
  const triples = names.slice(0, FEW).map((text) => ({ subject: text, predicate: 'OWNS', object: 'Zebra' }));
  await send('post', `/v1/graph/triples?name=${encodeURIComponent(names[0]!)}`, {
    headers: { ...headers, 'content-type': 'application/jsonl' },
    data: triples.map((each) => JSON.stringify(each)).join('\n'),
  });
  for (const id of ids)
    await request.get(`/v1/documents/${id}?wait=settled&timeout=120`, { headers, timeout: 150_000 });
  const found = await (await request.get('/v1/graph/entities?limit=200', { headers })).json();
  made.entities = found.items.map((each: { name: string }) => each.name);
  return made;
}

/** Expects a page on which these are text, and nothing else has come of them. */
async function expectShown(page: Page, texts: readonly string[]) {
  const body = page.locator('body');
  const missing = async () => {
    const shown = plain((await body.evaluate((element) => element.textContent)) ?? '');
    return texts.filter((text) => !shown.includes(plain(text)));
  };
  await expect.poll(missing).toEqual([]);
  await settled(page);
  await expectHarmless(body);
}

test('hostile names, titles, memories and passages are shown as text on every page', async ({ page, request }) => {
  const names = sample();
  expect(names.length).toBe(MOST);
  const key = await newWorkspace(request, names[0]!);
  const made = await make(request, key, names);
  await page.setViewportSize({ width: 1280, height: 6000 }); // long lists render what is seen
  await signIn(page, key);
  await expectShown(
    page,
    made.sessions.map(({ title }) => title),
  );
  await page.goto('/documents');
  await expectShown(page, made.documents);
  await page.goto('/memory');
  await expectShown(page, made.memories);
  await page.goto('/memory/world');
  await expectShown(page, names.slice(0, FEW));
  await page.goto('/admin/people');
  await expectShown(page, made.people);
  await page.goto('/admin/keys');
  await expectShown(page, made.keys);
  await page.goto('/admin/quick-actions');
  await expectShown(page, names.slice(0, FEW));
  for (const path of ['/admin', '/admin/runs', '/admin/usage', '/admin/settings', '/admin/presets', '/admin/audit'])
    await page.goto(path).then(() => expectShown(page, []));
  await page.goto('/documents/sources');
  await expectShown(page, []);

  await page.goto('/graph');
  await expectShown(page, made.entities.slice(0, FEW));
  for (const entity of made.entities.slice(0, FEW)) {
    await page.goto(`/graph?entity=${encodeURIComponent(entity)}`);
    await expectShown(page, [entity]);
  }

  await page.goto('/search?q=zebra+marker');
  const hits = page.getByRole('main').locator('ol > li');
  await expect(hits.first()).toBeVisible();
  await expectShown(page, []);
  const hit = hits.first().getByRole('button').first();
  await hit.press('Enter');
  await expect(page.getByTestId('passage')).toBeVisible();
  await expectShown(page, []);

  for (const { id, title } of made.sessions.slice(0, FEW)) {
    await page.goto(`/c/${id}?artifact=current`);
    await expectShown(page, [title]);
  }
  await page.keyboard.press('Control+k');
  await expect(page.getByRole('dialog')).toBeVisible();
  await expectShown(page, []);
  await page.goto('/');
  await ask(page, 'What does the zebra marker 1 say?');
  await expectShown(page, []);
});
