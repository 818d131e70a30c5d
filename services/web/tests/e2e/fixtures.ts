import AxeBuilder from '@axe-core/playwright';
import { test as base, expect, type Page } from '@playwright/test';

export const QUESTION = 'How long is a refresh token valid?';
export const SHOTS = process.env.SHOTS ?? 'test-results';

/** A page whose every error, refused resource (content security policy) and request to elsewhere fails the test. */
export const test = base.extend<{ page: Page }>({
  page: async ({ page, baseURL }, use) => {
    const wrong: string[] = [];
    page.on('pageerror', (error) => wrong.push(error.message));
    page.on('console', (message) => {
      const expected = /status of (401|404|409|412|422)/.test(message.text()); // who one is; a link that was used; a file that is refused; who else wrote
      if (message.type() === 'error' && !expected) wrong.push(message.text());
    });
    page.on('request', (request) => {
      if (!request.url().startsWith(baseURL!) && !request.url().startsWith('blob:')) wrong.push(request.url());
    });
    await use(page);
    expect(wrong).toEqual([]);
  },
});

export async function signIn(page: Page) {
  await page.goto('/');
  await page.getByLabel('API key').fill(process.env.ATTRACTOR_API_KEY!);
  await page.keyboard.press('Enter');
  await expect(page.getByLabel('Your question')).toBeVisible();
}

/** Asks on the front page, and waits for the whole answer. */
export async function ask(page: Page, question = QUESTION) {
  await page.getByLabel('Your question').fill(question);
  await page.keyboard.press('Enter');
  await expect(page.getByText(/citations checked/)).toBeVisible();
}

/** In both schemes, at 360 and 1,280 pixels: no violation that axe finds, nothing wider than the screen. */
export async function expectAccessible(page: Page, name: string) {
  const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
  for (const colorScheme of ['dark', 'light'] as const) {
    for (const [width, height] of [
      [360, 740],
      [1280, 800],
    ] as const) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height });
      const { violations } = await new AxeBuilder({ page }).withTags(tags).analyze();
      const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' ')}`);
      expect(found, `${name}, ${colorScheme}, ${width}`).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)).toBe(false);
      await page.screenshot({ path: `${SHOTS}/${name}-${colorScheme}-${width}.png` });
    }
  }
}

export { expect };
