import { expect, expectAccessible, expectToFit, settled, signIn, test } from './fixtures';

const PARTS = ['', '/usage', '/settings', '/presets', '/quick-actions', '/keys', '/people', '/audit'];

test('Ctrl-K finds a page by a part of its name, and tells the keys', async ({ page }) => {
  await signIn(page);
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.keyboard.press('Control+k');
  await expect(page.getByLabel('Go to a page or run a command')).toBeFocused();
  await expectAccessible(page, 'commands');
  expect(await page.evaluate(() => document.getAnimations().length)).toBe(0);
  expect(await page.evaluate(() => getComputedStyle(document.documentElement).scrollBehavior)).toBe('auto');
  await page.keyboard.type('world');
  await expect(page.getByRole('menuitem')).toHaveCount(1);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/memory\/world$/);
  await page.keyboard.press('Control+/');
  await expect(page.getByRole('dialog', { name: 'Keyboard shortcuts' })).toContainText('send the question');
  await expectAccessible(page, 'list-of-keys');
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toHaveCount(0);
});

test('an unknown address says so, beside the menu', async ({ page }) => {
  await signIn(page);
  const answer = await page.goto('/settings');
  expect(answer!.status()).toBe(404);
  await expect(page.getByRole('heading', { name: 'Page not found.' })).toBeVisible();
  await expectAccessible(page, 'not-found');
  await page.getByRole('navigation', { name: 'Menu' }).getByRole('link', { name: 'Search' }).click();
  await expect(page.getByRole('heading', { name: 'Search', level: 1 })).toBeVisible();
});

test('a conversation that does not exist says so, and offers nothing but a new one', async ({ page }) => {
  await signIn(page);
  await page.goto('/c/00000000-0000-4000-8000-000000000000');
  await expect(page.getByRole('heading', { name: 'There is no such conversation.' })).toBeVisible();
  await expect(page.getByRole('main').getByRole('button')).toHaveCount(0);
  await page.getByRole('main').getByRole('link', { name: 'New conversation' }).press('Enter');
  await expect(page.getByLabel('Your question')).toBeFocused();
});

test.describe('in German', () => {
  test.use({ locale: 'de-DE' });
  test('every page speaks German', async ({ page }) => {
    await page.goto('/');
    await page.getByLabel('API-Schlüssel').fill(process.env.ATTRACTOR_API_KEY!);
    await page.keyboard.press('Enter');
    const menu = page.getByRole('navigation', { name: 'Menü' });
    for (const name of ['Suche', 'Graph', 'Gedächtnis', 'Dokumente', 'Verwaltung']) {
      await menu.getByRole('link', { name, exact: true }).click();
      await expect(page.getByRole('heading', { name, level: 1 })).toBeVisible();
    }
    await page.goto('/einstellungen');
    await expect(page.getByRole('heading', { name: 'Seite nicht gefunden.' })).toBeVisible();
    const more = [
      '/search?q=token',
      '/graph?entity=AuthService',
      '/memory/world',
      ...PARTS.map((part) => `/admin${part}`),
    ];
    for (const path of ['/', '/memory', '/documents', ...more]) {
      await page.goto(path);
      await settled(page);
      await expectToFit(page, `${path} in German`);
    }
  });

  test('what the API says is told in German, too', async ({ page }) => {
    await page.goto('/');
    const key = page.getByLabel('API-Schlüssel');
    await key.fill('atr_unknown');
    await page.keyboard.press('Enter');
    await expect(page.getByRole('alert')).toContainText('Dieser API-Schlüssel ist nicht gültig');
    await key.fill(process.env.ATTRACTOR_API_KEY!);
    await page.keyboard.press('Enter');
    await page.getByLabel('Deine Frage').fill('How long is a refresh token valid, in German?');
    await page.keyboard.press('Enter');
    await expect(page.getByText(/Belege geprüft/)).toBeVisible();
    await page.getByText('Schritte', { exact: true }).click();
    await expect(page.getByRole('article').getByRole('listitem').first()).toHaveText('Den Weg wählen');
    const { items } = await (await page.request.get('/v1/settings/schema')).json();
    const main = page.getByRole('main');
    for (const [path, heading] of [
      ['/admin/settings', 'Modelle nach Aufgabe'],
      ['/admin/limits', 'Token der Modelle'],
    ] as const) {
      await page.goto(path);
      await expect(main.getByRole('heading', { name: heading })).toBeVisible();
      for (const { description } of items) await expect(main.getByText(description)).toHaveCount(0);
    }
  });
});
