import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { APIRequestContext, BrowserContext, Page } from '@playwright/test';
import { bearer, expect, signIn, tab, test, watched } from './fixtures';
import { Network } from './network';

const MODEL_KEY = process.env.MODEL_KEY!;
const TABS = 8;
const COUNTED = 100;
const FEW = 30;
const LONGER = 300; // takes until all tabs are open
const question = (count: number) => `Count to ${count}`;

// The connections that the tests cut, and what a killed process leaves unanswered
test.use({
  expected: /net::ERR_(INTERNET_DISCONNECTED|INCOMPLETE|EMPTY|CONNECTION|NETWORK_CHANGED)|status of 50[234]/,
});

/** Ends a process of the stack with kill -9; the launcher starts it again. */
function kill(name: string) {
  const processes = JSON.parse(readFileSync(join(process.env.STACK!, 'processes.json'), 'utf8'));
  process.kill(processes[name].pid, 'SIGKILL');
}

const answerOf = (page: Page) => page.getByRole('article').last();

/** Expects the whole answer: each number once, in order. */
async function expectCounted(page: Page, count = COUNTED, timeout?: number) {
  await expect(page.getByRole('article').getByText(/citations checked/)).toBeVisible({ timeout });
  await expect(page.getByRole('article')).toHaveCount(1);
  await expect(page.getByRole('log').getByText(question(count), { exact: true })).toHaveCount(1);
  const words = (await answerOf(page).innerText()).match(/\b1 2 3[ \d]*/g);
  const all = Array.from({ length: count }, (_, n) => n + 1);
  expect(words?.map((each) => each.trim())).toEqual([all.join(' ')]);
}

/** Asks, and waits until the answer is being written. */
async function begin(page: Page, count = COUNTED): Promise<string> {
  await page.getByLabel('Your question').fill(question(count));
  await page.keyboard.press('Enter');
  await expect(answerOf(page)).toContainText('3 4 5');
  return (await answerOf(page).getAttribute('data-run'))!;
}

const statusOf = async (request: APIRequestContext, run: string): Promise<string> =>
  (await (await request.get(`/v1/runs/${run}`, { headers: bearer(MODEL_KEY) })).json()).status;

test('who is offline while the answer is written has all of it afterwards', async ({ page, request }) => {
  await signIn(page, MODEL_KEY);
  const run = await begin(page);
  await page.context().setOffline(true);
  kill('gateway'); // who is offline loses the open connection, too
  await expect(page.getByText('Connection lost')).toBeVisible();
  await expect.poll(() => statusOf(request, run)).toBe('completed');
  await page.context().setOffline(false);
  await expectCounted(page);
});

const overNetwork = test.extend<{ network: Network }>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright wants an object here
  network: async ({}, use) => {
    const network = await Network.to(process.env.WEB_URL!);
    await use(network);
    network.close();
  },
  baseURL: async ({ network }, use) => use(network.url),
});

overNetwork('a stream that breaks in every event loses no word', async ({ page, network }) => {
  await signIn(page, MODEL_KEY);
  network.cutting = true;
  await begin(page, FEW);
  await expectCounted(page, FEW, 300_000); // it connects anew for each word
  expect(network.cuts).toBeGreaterThan(FEW);
  network.cutting = false;
  await page.reload();
  await expectCounted(page, FEW);
});

overNetwork('a laptop that slept while the answer was written has all of it', async ({ page, network, request }) => {
  await page.clock.install();
  await signIn(page, MODEL_KEY);
  const run = await begin(page);
  network.sleep();
  await expect.poll(() => statusOf(request, run)).toBe('completed');
  await expect(answerOf(page)).not.toContainText(` ${COUNTED}`);
  await page.clock.fastForward('01:00:00');
  await expectCounted(page);
});

for (const [name, what] of [
  ['gateway', 'the gateway'],
  ['orchestrator', 'the process that writes the answer'],
] as const)
  test(`${what} dies while an answer is written: no word is lost or shown twice`, async ({ page }) => {
    await signIn(page, MODEL_KEY);
    await begin(page);
    kill(name);
    await expectCounted(page);
    await page.reload();
    await expectCounted(page);
  });

test('a page that is reloaded while the answer is written goes on with it', async ({ page }) => {
  await signIn(page, MODEL_KEY);
  await begin(page);
  await page.reload();
  await expect(answerOf(page)).toContainText('3 4 5');
  await expectCounted(page);
});

test('a conversation that is open twice shows the same answer in both', async ({ page, context, baseURL }) => {
  await signIn(page, MODEL_KEY);
  await begin(page);
  const other = await context.newPage();
  const wrong = watched(other, baseURL!, undefined);
  await other.goto(page.url());
  await Promise.all([expectCounted(page), expectCounted(other)]);
  expect(wrong).toEqual([]);
});

/** Opens a tab; the set has the requests that hold a connection. */
async function opened(context: BrowserContext): Promise<{ page: Page; open: Set<object> }> {
  const page = await context.newPage();
  const open = new Set<object>();
  page.on('request', (request) => open.add(request));
  page.on('requestfinished', (request) => open.delete(request));
  page.on('requestfailed', (request) => open.delete(request));
  return { page, open };
}

test('eight tabs have their answers, though a browser has six connections', async ({ page, context, request }) => {
  await signIn(page, MODEL_KEY);
  const tabs = [];
  for (let number = 0; number < TABS; number++) {
    const opening = await opened(context);
    tabs.push(opening);
    await opening.page.goto('/');
    const run = await begin(opening.page, LONGER);
    await expect.poll(() => opening.open.size).toBeLessThanOrEqual(2);
    await tab(opening.page, 'hidden');
    await expect.poll(() => opening.open.size).toBe(0);
    expect(await statusOf(request, run)).toBe('running');
  }
  for (const { page: hidden } of tabs) {
    await tab(hidden, 'visible');
    await expectCounted(hidden, LONGER);
    await tab(hidden, 'hidden'); // one tab of a window is seen
  }
});
