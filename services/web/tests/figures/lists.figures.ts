import { expect, type Page, test } from '@playwright/test';
import { signIn } from '../e2e/fixtures';
import { identifier, row, spread, watchFrames } from './measuring';

const DOCUMENTS = 100_000;
const NODES = 5_000;
const WHEEL_TURNS = 120;

const documentAt = (number: number) => ({
  id: identifier(number),
  name: `reports/2026/report-${number}.md`,
  title: number % 3 ? null : `Report ${number} of the harbour office`,
  status: 'searchable',
  embedding_status: 'embedded',
  file_size: 1000 + number,
  media_type: 'text/markdown',
  updated_at: '2026-11-26T09:00:00Z',
});

test('scroll of documents', async ({ page }) => {
  await signIn(page);
  await page.route('**/v1/documents?*', (route) => {
    const query = new URL(route.request().url()).searchParams;
    const from = Number(query.get('cursor') ?? 0);
    const to = Math.min(from + Number(query.get('limit')), DOCUMENTS);
    const items = Array.from({ length: to - from }, (_, n) => documentAt(from + n));
    return route.fulfill({ json: { items, next_cursor: to < DOCUMENTS ? String(to) : null } });
  });
  await page.goto('/documents');
  await expect(page.getByText('report-1.md', { exact: false }).first()).toBeVisible();
  const main = page.getByRole('main');
  const last = page.getByText(`reports/2026/report-${DOCUMENTS - 1}.md`);
  const began = Date.now();
  let loaded = true;
  while ((await last.count()) === 0) {
    await main.evaluate((box) => box.scrollTo(0, box.scrollHeight));
    await page.evaluate(() => new Promise(requestAnimationFrame));
    loaded = Date.now() - began < 400_000;
    if (!loaded) break;
  }
  const height = await main.evaluate((box) => box.scrollHeight);
  row(
    `${DOCUMENTS.toLocaleString('en')} documents (synthetic answers), scrolled to the last one`,
    loaded
      ? `${((Date.now() - began) / 1000).toFixed(0)} s, ${(height / 1e6).toFixed(1)} million pixels`
      : 'not reached in 400 s',
  );
  row('  elements on the page then', String(await page.evaluate(() => document.querySelectorAll('*').length)));
  const frames: number[] = [];
  const tasks: number[] = [];
  for (const share of [0, 0.5, 0.9]) {
    await main.evaluate((box, at) => box.scrollTo(0, at * box.scrollHeight), share);
    const watched = await turned(page, 300, 400);
    frames.push(...watched.frames);
    tasks.push(...watched.tasks);
  }
  row('  frames while scrolling by wheel', spread(frames), '');
  row('  long tasks over 50 ms while scrolling', `${tasks.length}, longest ${Math.max(0, ...tasks).toFixed(0)} ms`);
});

test('zoom of the graph', async ({ page }) => {
  await signIn(page);
  const nodes = Array.from({ length: NODES }, (_, n) => ({
    id: identifier(n),
    name: `Entity ${n}`,
    entity_type: ['person', 'service', 'project'][n % 3],
    mentions: 1 + (n % 40),
    documents: 1,
  }));
  // Each entity is related to an earlier one, as in a graph that grew, and to a neighbour
  const edges = nodes.slice(1).flatMap(({ id }, n) => [
    { source: id, target: identifier(Math.floor(n / 7)), relation_type: 'DEPENDS_ON', weight: 1, evidence: 1 },
    { source: id, target: identifier(n), relation_type: 'OWNS', weight: 1, evidence: 1 },
  ]);
  const graph = { nodes, edges, centre: nodes[0], truncated: false, store: 'postgres' };
  await page.route('**/v1/graph/subgraph?*', (route) => route.fulfill({ json: graph }));
  await page.goto('/graph?entity=AuthService');
  const picture = page.getByRole('img', { name: /neighbours/ });
  await expect(picture).toBeVisible();
  const stop = await watchFrames(page);
  const began = Date.now();
  await expect(picture).toHaveAttribute('data-drawn', 'true', { timeout: 300_000 });
  const { tasks } = await stop();
  const most = Math.max(0, ...tasks).toFixed(0);
  row(
    `${NODES.toLocaleString('en')} nodes, ${edges.length.toLocaleString('en')} edges (synthetic answer): final positions`,
    `${((Date.now() - began) / 1000).toFixed(1)} s`,
  );
  row('  long tasks over 50 ms meanwhile', `${tasks.length}, longest ${most} ms`);
  await picture.scrollIntoViewIfNeeded();
  const box = (await picture.boundingBox())!;
  const { frames } = await turned(page, box.x + box.width / 2, box.y + box.height / 2, true);
  row('  frames while zooming by wheel (drawn without a GPU)', spread(frames), '');
});

/** Turns the wheel at a place; with `back`, forwards and backwards. */
async function turned(page: Page, x: number, y: number, back = false) {
  await page.mouse.move(x, y);
  const stop = await watchFrames(page);
  for (let turn = 0; turn < WHEEL_TURNS; turn++) await page.mouse.wheel(0, back && turn % 20 < 10 ? -120 : 120);
  return await stop();
}
