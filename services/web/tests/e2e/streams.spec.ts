import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { APIRequestContext, BrowserContext, Page, Request } from '@playwright/test';
import { bearer, expect, signIn, tab, test, watched } from './fixtures';
import { Network } from './network';

const MODEL_KEY = process.env.MODEL_KEY!;
const TABS = 8;
const COUNTED = 100;
const FEW = 15;
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
async function expectCounted(page: Page, count = COUNTED, timeout = 90_000) {
  await expect(page.getByRole('article').getByText(/citations? checked/)).toBeVisible({ timeout });
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

/** The status of a run; undefined while the gateway is away. */
const statusOf = (request: APIRequestContext, run: string): Promise<string | undefined> =>
  request.get(`/v1/runs/${run}`, { headers: bearer(MODEL_KEY) }).then(
    async (answer) => (answer.ok() ? (await answer.json()).status : undefined),
    () => undefined,
  );

/** The pauses of a minute without a connection, in milliseconds. */
const PAUSES = [250, 1000, 2000, ...Array<number>(12).fill(5000)];

test('who is offline for a minute tries again ever more seldom, and goes on as soon as the browser is online', async ({
  page,
  request,
}) => {
  await page.clock.install();
  await signIn(page, MODEL_KEY);
  const run = await begin(page);
  let [tried, failed] = [0, 0];
  const isTry = (each: Request) => each.url().endsWith(`/v1/runs/${run}/events`);
  page.on('request', (each) => isTry(each) && tried++);
  page.on('requestfailed', (each) => isTry(each) && failed++);
  await page.clock.pauseAt(await page.evaluate(() => Date.now() + 20_000)); // from here on the test is the clock
  await page.context().setOffline(true);
  kill('gateway'); // who is offline loses the open connection, too
  await expect(page.getByText('Connection lost')).toBeVisible();
  for (const [before, milliseconds] of PAUSES.entries()) {
    await page.clock.runFor(milliseconds - 1);
    expect(tried).toBe(before);
    await page.clock.runFor(1);
    await expect.poll(() => failed).toBe(before + 1);
  }
  await expect.poll(() => statusOf(request, run)).toBe('completed');
  await expect(answerOf(page)).not.toContainText(` ${COUNTED}`);
  await page.context().setOffline(false);
  await expect.poll(() => tried).toBe(PAUSES.length + 1); // at once: the clock stands still
  await page.clock.resume();
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

/** Stops all answers of the scripted model after their first words, or lets them go on. */
const model = (request: APIRequestContext, act: 'hold' | 'release') =>
  request.post(`${process.env.MODEL_URL}/${act}`, { failOnStatusCode: true });

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
  await model(request, 'hold');
  try {
    for (let number = 0; number < TABS; number++) {
      const opening = await opened(context);
      tabs.push(opening);
      await opening.page.goto('/');
      const run = await begin(opening.page);
      await expect.poll(() => opening.open.size).toBeLessThanOrEqual(2);
      await tab(opening.page, 'hidden');
      await expect.poll(() => opening.open.size).toBe(0);
      expect(await statusOf(request, run)).toBe('running');
    }
  } finally {
    await model(request, 'release');
  }
  for (const { page: hidden } of tabs) {
    await tab(hidden, 'visible');
    await expectCounted(hidden);
    await tab(hidden, 'hidden'); // one tab of a window is seen
  }
});
