import type { Page } from '@playwright/test';
import { ask, expect, expectAccessible, settled, signIn, test } from './fixtures';

// What the browser says of files that do not come
test.use({
  expected: /status of 404|net::ERR_(FAILED|INTERNET_DISCONNECTED)|could not be loaded|dynamically imported/,
});

const main = (page: Page) => page.getByRole('main');
const NOT_LOADED = 'This part of the page could not be loaded';
const failure = (page: Page) => page.getByRole('alert').filter({ hasText: NOT_LOADED });
const to = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Menu' }).getByRole('link', { name, exact: true }).press('Enter');

test('the page names four files, which are all that the first view needs, and asks once who uses it', async ({
  page,
}) => {
  await signIn(page);
  const named = (await (await page.request.get('/')).text()).match(/\/assets\/[^"]+/g);
  expect(named).toHaveLength(4);
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  await page.route('**/assets/**', (route) =>
    named!.includes(new URL(route.request().url()).pathname) ? route.fallback() : route.abort(),
  );
  await page.goto('/');
  await expect(page.getByLabel('Your question')).toBeFocused();
  expect(asked.filter((path) => path === '/v1/me')).toHaveLength(1);
});

for (const kind of ['js', 'css'])
  test(`a page whose .${kind} file does not come at first is tried once more by itself`, async ({ page }) => {
    await signIn(page);
    await settled(page); // the conversation's files, which are loaded ahead, are there
    let failed = 0;
    await page.route(`**/assets/*.${kind}`, async (route) => {
      if (failed++) await route.fallback();
      else await route.abort();
    });
    await to(page, 'Search');
    await expect(page.getByLabel('Keywords or a question')).toBeVisible();
    expect(failed).toBeGreaterThan(1);
    await expect(failure(page)).toHaveCount(0);
    const styles = await page.evaluate(() => Array.from(document.styleSheets, ({ href }) => href));
    expect(styles).toContainEqual(expect.stringMatching(/\/Search-[^/]*\.css$/));
  });

test('a page that cannot be loaded says so, and is there when it is tried again', async ({ page }) => {
  await signIn(page);
  await page.route('**/assets/**', (route) => route.abort());
  await to(page, 'Memory');
  await expect(failure(page)).toBeVisible();
  await expectAccessible(page, 'not-loaded');
  await to(page, 'Search');
  await expect(page.getByText(NOT_LOADED)).toBeVisible();
  await main(page).getByRole('button', { name: 'Try again' }).press('Enter');
  await expect(failure(page)).toBeVisible();
  await page.unrouteAll();
  await main(page).getByRole('button', { name: 'Try again' }).press('Enter');
  await expect(page.getByLabel('Keywords or a question')).toBeFocused();
  await expect(failure(page)).toHaveCount(0);
  await to(page, 'Memory'); // opened anew
  await expect(page.getByRole('heading', { name: 'Memory', level: 1 })).toBeVisible();
  await expect(main(page)).toHaveCSS('overflow-y', 'auto');
});

test('a page that could not be loaded comes by itself when the network is back', async ({ page }) => {
  await signIn(page);
  await page.context().setOffline(true);
  await to(page, 'Memory');
  await expect(failure(page)).toBeVisible();
  await page.context().setOffline(false);
  await expect(page.getByRole('heading', { name: 'Memory', level: 1 })).toBeVisible();
});

test('without a network what was typed stays, and the page says why it was not sent', async ({ page }) => {
  await signIn(page);
  await to(page, 'Memory');
  const note = page.getByLabel('A note to remember');
  await note.fill('The beacon is white.');
  await page.context().setOffline(true);
  await note.press('Enter');
  await expect(main(page).getByRole('alert').filter({ hasText: 'The server cannot be reached' })).toBeVisible();
  await expect(note).toHaveValue('The beacon is white.');
  await page.context().setOffline(false);
  await note.press('Enter');
  await expect(main(page).getByRole('listitem').filter({ hasText: 'The beacon is white.' })).toBeVisible();
});

test('a panel that cannot be loaded leaves the answer where it is, and can be closed', async ({ page }) => {
  await signIn(page);
  await ask(page);
  await page.route('**/assets/SourcePanel*', (route) => route.abort());
  const chip = page.getByRole('button', { name: /Open source \d/ }).first();
  await chip.press('Enter');
  await expect(failure(page)).toBeVisible();
  await expect(page.getByText(/citations? checked/)).toBeVisible();
  await page.getByRole('complementary').getByRole('button', { name: 'Close' }).press('Enter');
  await expect(failure(page)).toHaveCount(0);
  await expect(chip).toBeFocused();
});

test('after an upgrade of the server the page is reloaded', async ({ page }) => {
  await page.clock.install();
  await signIn(page);
  await page.clock.fastForward(60_000); // it has been open for a while
  let upgraded = true; // the server has the files of another page, until this one is reloaded
  await page.route('**/assets/**', (route) => (upgraded ? route.fulfill({ status: 404 }) : route.fallback()));
  await page.route('**/memory', (route) => {
    upgraded = false;
    return route.fallback();
  });
  const reloaded = page.waitForEvent('load');
  await to(page, 'Memory');
  await reloaded;
  await expect(page.getByRole('heading', { name: 'Memory', level: 1 })).toBeVisible();
  expect(upgraded).toBe(false);
});
