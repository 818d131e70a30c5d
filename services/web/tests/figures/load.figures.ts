import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, expect, test } from '@playwright/test';
import { settled, signIn, violations } from '../e2e/fixtures';
import { row, spread } from './measuring';

const LOADS = 10;
const PAGES = {
  Search: '/search?q=refresh%20token',
  Graph: '/graph?entity=AuthService',
  Memory: '/memory',
  'World state': '/memory/world',
  Documents: '/documents',
  Operations: '/admin',
  Settings: '/admin/settings',
} as const;

/** Returns the packed size of each file that the gateway serves. */
function packed(): Map<string, number> {
  const files = readdirSync(process.env.DIST!, { recursive: true, encoding: 'utf8' });
  return new Map(
    files.filter((file) => file.endsWith('.gz')).map((file) => [file, statSync(join(process.env.DIST!, file)).size]),
  );
}

test('first view and pages', async ({ page }) => {
  const sizes = packed();
  let seen = new Set<string>();
  page.on('request', (request) => seen.add(`${new URL(request.url()).pathname.slice(1)}.gz`));
  await signIn(page);
  seen = new Set(['index.html.gz']);
  await page.addInitScript(() =>
    addEventListener('focusin', () => Object.assign(window, { usable: performance.now() }), { once: true }),
  );
  await page.goto('/');
  await expect(page.getByLabel('Your question')).toBeFocused();
  const first = await page.evaluate(() =>
    performance
      .getEntriesByType('resource')
      .filter(({ startTime }) => startTime <= (window as unknown as { usable: number }).usable)
      .map(({ name }) => `${new URL(name).pathname.slice(1)}.gz`),
  );
  await settled(page);
  const known = seen;
  const sum = (files: Iterable<string>) => [...files].reduce((all, file) => all + (sizes.get(file) ?? 0), 0);
  const kilobytes = (bytes: number) => `${(bytes / 1000).toFixed(0)} kB`;
  const needed = new Set(['index.html.gz', ...first]);
  row('first view, until a question can be typed, gzip', kilobytes(sum(needed)), '180 kB');
  row('  loaded ahead while it is typed', kilobytes(sum([...known].filter((file) => !needed.has(file)))));
  const own = async (name: string, open: () => Promise<unknown>) => {
    seen = new Set();
    await open();
    await settled(page);
    const more = [...seen].filter((file) => !known.has(file));
    row(`  own of the page ${name}, gzip`, kilobytes(sum(more)));
  };
  for (const [name, address] of Object.entries(PAGES)) await own(name, () => page.goto(address));
  await page.goto('/');
  await own('conversation', async () => {
    await page.getByLabel('Your question').fill('How long is a refresh token valid?');
    await page.keyboard.press('Enter');
    await expect(page.getByText(/citations? checked/)).toBeVisible();
  });
  await own('source (PDF, its worker included)', async () => {
    await page
      .getByRole('button', { name: /Open source \d: Identity handbook/ })
      .first()
      .click();
    await expect(page.getByTestId('word').first()).toBeVisible();
  });
  await own('artifact', () => page.getByRole('button', { name: 'Artifact' }).first().click());
});

async function timeToUse(browser: Browser, state: Awaited<ReturnType<typeof stateOf>>): Promise<number> {
  const context = await browser.newContext({ storageState: state, baseURL: process.env.WEB_URL! });
  const page = await context.newPage();
  const devtools = await context.newCDPSession(page);
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: 4 });
  const rate = (10 * 1_000_000) / 8;
  await devtools.send('Network.enable');
  const line = { offline: false, latency: 40, downloadThroughput: rate, uploadThroughput: rate };
  await devtools.send('Network.emulateNetworkConditions', line);
  await page.addInitScript(() => {
    const look = () => {
      if (document.activeElement?.tagName === 'TEXTAREA') Object.assign(window, { usable: performance.now() });
      else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  });
  await page.goto('/');
  await page.waitForFunction(() => 'usable' in window);
  const took = await page.evaluate(() => (window as unknown as { usable: number }).usable);
  await context.close();
  return took;
}

const stateOf = (page: import('@playwright/test').Page) => page.context().storageState();

test('shell usable', async ({ page, browser }) => {
  await signIn(page);
  const state = await stateOf(page);
  const took: number[] = [];
  for (let number = 0; number < LOADS; number++) took.push(await timeToUse(browser, state));
  row(`shell usable, 4x slower CPU, 10 Mbit/s, 40 ms, empty cache (${LOADS} loads)`, spread(took), '1500 ms');
});

test('axe', async ({ page }) => {
  await signIn(page);
  let found = 0;
  let looks = 0;
  for (const address of ['/', ...Object.values(PAGES), '/nowhere'])
    for (const colorScheme of ['dark', 'light'] as const)
      for (const width of [360, 1280]) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 800 });
        await page.goto(address);
        await settled(page);
        found += (await violations(page)).length;
        looks++;
      }
  row(`axe violations (${looks} looks: pages, schemes, widths)`, String(found), '0');
});
