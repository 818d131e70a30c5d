import { expect, expectAccessible, signIn, test } from './fixtures';

test('an entity is found, its facts lead to their sentences, and a way leads to another one', async ({ page }) => {
  await signIn(page);
  await page.getByRole('link', { name: 'Graph', exact: true }).click();
  await expect(page.getByLabel('Find an entity')).toBeFocused();
  await expectAccessible(page, 'graph-front');
  await page.keyboard.type('authserv');
  await page.getByRole('main').getByRole('link', { name: 'AuthService', exact: true }).click();
  await expect(page.getByRole('heading', { name: 'AuthService', exact: true })).toBeVisible();
  const picture = page.getByRole('img', { name: /AuthService and \d+ neighbours/ });
  await expect(picture).toHaveAttribute('data-drawn', 'true');
  await expect(page.getByRole('region', { name: 'Dependencies' })).toContainText('UserDB');
  await expectAccessible(page, 'graph');
  await expect(picture).toHaveAttribute('data-drawn', 'true'); // redrawn in the other colours

  const paths = page.getByRole('region', { name: 'Path from AuthService to another entity' });
  await paths.getByLabel('Other entity').fill('ProjectBeta');
  await page.keyboard.press('Enter');
  await expect(paths.locator('ol').getByRole('link', { name: 'ProjectBeta' }).first()).toBeVisible();

  const sentence = page.getByRole('button', { name: /Open source \d+: services\.md/ }).first();
  await sentence.focus();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('complementary', { name: 'Source' }).locator('mark')).not.toBeEmpty();
  // The picture is drawn anew in the room that the panel leaves
  const widths = () =>
    picture.evaluate((box: HTMLElement) => [
      box.offsetWidth,
      box.querySelector('canvas')!.getBoundingClientRect().width,
    ]);
  await expect.poll(async () => new Set(await widths()).size).toBe(1);
  await page.keyboard.press('Escape');
  await expect(sentence).toBeFocused();

  await page.getByRole('region', { name: 'Dependencies' }).getByRole('link', { name: 'UserDB' }).click();
  await expect(page.getByRole('heading', { name: 'UserDB', exact: true })).toBeVisible();
});

test('a name that the graph does not have is told at once, without asking again', async ({ page }) => {
  await signIn(page);
  const asked: string[] = [];
  page.on('request', (request) => request.url().endsWith('/lookup_facts') && asked.push(request.url()));
  await page.goto('/graph?entity=Nobody+at+all');
  await expect(page.getByText('the graph has no entity named')).toBeVisible();
  await expect(page.getByLabel('Find an entity')).toBeVisible();
  expect(asked).toHaveLength(1);
});

test('a name with a typing error leads to the entity that is meant', async ({ page }) => {
  await signIn(page);
  await page.goto('/graph?entity=AuthServise');
  await expect(page.getByRole('heading', { name: 'AuthService', exact: true })).toBeVisible();
});
