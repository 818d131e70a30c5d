import { ask, expect, expectAccessible, signIn, test } from './fixtures';

test('the cited PDF is searched with Ctrl-F, from page to page and back to the passage', async ({ page }) => {
  await signIn(page);
  await ask(page);
  await page
    .getByRole('button', { name: /Open source \d: Identity handbook/ })
    .first()
    .press('Enter');
  const panel = page.getByRole('complementary', { name: 'Source' });
  await expect(page.getByTestId('frame')).toBeVisible();
  const shown = panel.getByText(/^Page \d+ of \d+/);
  const passage = await shown.innerText();
  await panel.getByRole('heading').focus();
  await page.keyboard.press('Control+f');
  const field = panel.getByRole('searchbox', { name: 'Search in this document' });
  await expect(field).toBeFocused();
  await page.keyboard.type('identity');
  const place = panel.locator('output').filter({ hasText: ' of ' });
  await expect(place).toHaveText(/^1 of \d+$/);
  await expect(page.getByTestId('frame')).toHaveCount(0);
  await expect(page.getByTestId('word').first()).toBeInViewport();
  await expectAccessible(page, 'pdf-search');
  const count = Number((await place.innerText()).split(' ').at(-1));
  expect(count).toBeGreaterThan(1);
  await page.keyboard.press('Enter');
  await expect(place).toHaveText(`2 of ${count}`);
  await page.keyboard.press('Shift+Enter');
  await page.keyboard.press('Shift+Enter');
  await expect(place).toHaveText(`${count} of ${count}`); // from the first to the last
  await field.fill('zebra crossing');
  await expect(panel.getByText('Nothing found.')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(field).toHaveCount(0);
  await expect(panel).toBeVisible();
  await expect(panel.getByRole('heading')).toBeFocused();
  await expect(page.getByTestId('frame')).toBeVisible();
  await expect(shown).toHaveText(passage);
});

test('a text opens as a whole, with the lines of the passage marked, and is searched', async ({ page }) => {
  await signIn(page);
  await ask(page, 'Who was the incident lead of INC-112?');
  await page
    .getByRole('button', { name: /Open source \d: INC-112/ })
    .first()
    .press('Enter');
  const panel = page.getByRole('complementary', { name: 'Source' });
  await expect(panel.locator('mark')).toContainText(/Priya Raman/);
  await expect(panel.locator('mark')).toBeInViewport();
  await expect(page.getByTestId('passage')).toContainText(/Priya Raman/);
  const whole = await (await page.request.get(await markdownOf(page))).text();
  for (const line of [whole.split('\n')[0]!, whole.trimEnd().split('\n').at(-1)!])
    await expect(panel.getByText(line.trim()).first()).toBeAttached();
  await expectAccessible(page, 'text-in-context');

  await panel.getByRole('button', { name: 'Search in this document' }).press('Enter');
  await page.keyboard.type('userdb');
  await expect(panel.locator('output').filter({ hasText: ' of ' })).toHaveText(/^1 of \d+$/);
  const marked = () => page.evaluate(() => [...CSS.highlights.values()].map(({ size }) => size));
  await expect.poll(async () => (await marked())[1]).toBe(1);
  expect((await marked())[0]).toBeGreaterThan(1);
  await page.keyboard.press('Escape');
  await expect.poll(marked).toEqual([]);
  await expect(panel.locator('mark')).toBeInViewport();
});

/** The address of the Markdown of the document that is open. */
async function markdownOf(page: import('@playwright/test').Page): Promise<string> {
  const asked = page.waitForRequest(/\/v1\/documents\/[^/]+\/markdown$/);
  await page.reload();
  return (await asked).url();
}

test('in the conversation ] goes to the newest answer’s citation and on, [ goes back', async ({ page }) => {
  await signIn(page);
  await ask(page);
  await page.getByRole('log').focus();
  await page.keyboard.press(']');
  const chips = page
    .getByRole('article')
    .last()
    .getByRole('button', { name: /^Open source/ });
  await expect(chips.first()).toBeFocused();
  const field = page.getByLabel('Your question');
  await field.focus();
  await page.keyboard.type(']');
  await expect(field).toHaveValue(']');
});

test('at 1,280 pixels the title has the width of the panel, and what can be done is on one line', async ({ page }) => {
  await signIn(page);
  await ask(page);
  const panel = page.getByRole('complementary', { name: 'Source' });
  for (const language of ['en', 'de']) {
    await page.evaluate((chosen) => localStorage.setItem('attractor.language', chosen), language);
    await page.reload();
    await page.locator('[data-citation]').first().press('Enter');
    await expect(page.getByTestId('frame')).toBeVisible();
    const width = async (part: typeof panel) => (await part.boundingBox())!.width;
    const aside = page.getByRole('complementary');
    expect(await width(aside.getByRole('heading'))).toBeGreaterThan(0.7 * (await width(aside)));
    const tops = await aside
      .locator('header + div')
      .getByRole('button')
      .evaluateAll((buttons) => new Set(buttons.map((button) => button.getBoundingClientRect().top)).size);
    expect(tops).toBe(1);
    await page.keyboard.press('Escape');
  }
});

test('a long conversation scrolls in its own place, not the page, also when a source is opened', async ({ page }) => {
  await signIn(page);
  await page.setViewportSize({ width: 1280, height: 500 });
  await ask(page);
  const log = page.getByRole('log');
  await expect.poll(() => log.evaluate((box) => box.scrollHeight > box.clientHeight)).toBe(true);
  await page.locator('[data-citation]').first().press('Enter');
  await expect(page.getByTestId('word').first()).toBeInViewport();
  const room = () => page.evaluate(() => [document.documentElement.scrollHeight - innerHeight, scrollY]);
  expect(await room()).toEqual([0, 0]);
});
