import { expect, expectAccessible, signIn, test } from './fixtures';

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
  });
});
