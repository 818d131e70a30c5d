import { expect, expectAccessible, newWorkspace, signIn, test } from './fixtures';

test('passages are found in spite of a typing error, explained, filtered and opened', async ({ page }) => {
  await signIn(page);
  await page.getByRole('link', { name: 'Search', exact: true }).click();
  await expect(page.getByLabel('Keywords or a question')).toBeFocused();
  await page.keyboard.type('refresh tokn lifetime');
  await page.keyboard.press('Enter');
  const hits = page.getByRole('main').locator('ol > li');
  await expect(hits.first().locator('mark').first()).toBeVisible();
  await expect(page.getByText(/“tokn” was also searched as: .*token/)).toBeVisible();
  await page.getByText('How passages are found').press('Enter');
  await expect(page.getByText('passages of a similar meaning')).toBeVisible();
  await expectAccessible(page, 'search');

  const why = hits.first().locator('details');
  await why.locator('summary').press('Enter');
  await expect(why.getByRole('row', { name: /^lexical/ })).toBeVisible();
  await expect(why.getByRole('row', { name: /cosine/ })).toBeVisible();
  await expectAccessible(page, 'search-why');

  const pdf = page.getByRole('group', { name: 'Type' }).getByRole('checkbox', { name: /PDF/ });
  await pdf.check();
  await expect(page).toHaveURL(/media_type=application%2Fpdf/);
  await expect(hits.filter({ hasNotText: 'Identity handbook' })).toHaveCount(0);
  await page.getByLabel('Search mode').selectOption('lexical');
  await expect(page).toHaveURL(/mode=lexical/);
  await expect(page.getByText(/keywords only:/)).toBeVisible();
  await page.reload(); // the URL holds the whole search
  await expect(pdf).toBeChecked();

  await page.getByText('Why is a document missing?').press('Enter');
  await page.getByLabel('Document name, or part of it').fill('services.md');
  await page.keyboard.press('Enter');
  await expect(page.getByText(/The filter “Type” excludes it: PDF is required/)).toBeVisible();
  await expectAccessible(page, 'search-missing');

  const first = hits.first().getByRole('button');
  await first.click();
  await expect(page.getByTestId('frame')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByTestId('frame')).toBeHidden();
  await expect(first).toBeFocused();
});

test('before the first search the page says how to search, with examples of one’s own or where to add some', async ({
  page,
  request,
}) => {
  await signIn(page);
  await page.goto('/search');
  await expect(page.getByText('passages with exactly these words come first')).toBeVisible();
  await expectAccessible(page, 'search-introduction');
  const example = page.getByRole('region', { name: 'From your newest documents' }).getByRole('link').first();
  const title = await example.innerText();
  await example.press('Enter');
  await expect(page.getByLabel('Keywords or a question')).toHaveValue(title);
  await expect(page.getByRole('main').locator('ol > li').first()).toContainText(title);
  await expect(page.getByText('passages with exactly these words come first')).toHaveCount(0);

  await page.context().clearCookies();
  await signIn(page, await newWorkspace(request, 'Empty'));
  await page.goto('/search');
  await page.getByRole('link', { name: 'No documents yet. Add some, then search them.' }).press('Enter');
  await expect(page.getByRole('heading', { name: 'Documents', level: 1 })).toBeVisible();
});
