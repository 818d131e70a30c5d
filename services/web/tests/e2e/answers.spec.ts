import { readFile } from 'node:fs/promises';
import { ask, expect, expectAccessible, keyOf, settled, signIn, test } from './fixtures';

test('an answer is rated with a comment, and what was rewritten is told with its reason', async ({ page }) => {
  await signIn(page);
  // Simulates a chat model with a sentence that the sources contradict
  await page.route('**/messages?*', async (route) => {
    const response = await route.fetch();
    const stored = await response.json();
    const answer = stored.items.at(-1);
    if (answer?.role === 'assistant') {
      const reason = 'the source says 14 days';
      answer.sentences = [
        { start: 0, end: 12, status: 'verified', reason, instead_of: 'A refresh token lives 30 days.' },
        { start: 0, end: 12, status: 'unsupported', reason: 'no passage says so' },
      ];
    }
    await route.fulfill({ response, json: stored });
  });
  await ask(page);
  await page.getByText('Sentences rewritten from the sources: 1').click();
  await expect(page.locator('del')).toHaveText('A refresh token lives 30 days.');
  await expect(page.getByText('the source says 14 days')).toBeVisible();
  await page.getByText(/1 of 2 sentences is not confirmed/).click();
  await expect(page.getByText('unsupported: no passage says so')).toBeVisible();

  const good = page.getByRole('button', { name: 'Good answer' });
  await good.focus();
  await page.keyboard.press('Enter');
  await expect(good).toHaveAttribute('aria-pressed', 'true');
  await page.getByRole('button', { name: 'Comment' }).click();
  await page.getByLabel('What was good or bad?').fill('Cites the right page.');
  await page.getByRole('checkbox').check();
  await expectAccessible(page, 'comment');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await expectAccessible(page, 'answer-details');
  await page.reload();
  await expect(good).toHaveAttribute('aria-pressed', 'true');
  await page.getByRole('button', { name: 'Bad answer' }).click();
  await expect(good).toHaveAttribute('aria-pressed', 'false');
  await page.getByRole('button', { name: 'Bad answer' }).click(); // withdrawn
  await expect(page.getByRole('button', { name: 'Comment' })).toHaveCount(0);
  await page.unrouteAll({ behavior: 'wait' });
});

test('an answer without a model says where an owner sets one up; one whose model failed does not', async ({
  page,
  request,
}) => {
  await signIn(page);
  await ask(page);
  const article = page.getByRole('article');
  await page.getByLabel('Your question').fill('Who owns the Identity handbook?');
  await page.keyboard.press('Enter');
  await expect(article.getByText(/citations? checked/)).toHaveCount(2);
  await expect(article.getByText('No chat model is configured.')).toBeVisible(); // once
  await article.getByRole('link', { name: 'Set one up' }).press('Enter');
  await expect(page.getByRole('heading', { name: 'Answers and models' })).toBeVisible();
  // Simulates a model, which then did not answer
  await page.route('**/v1/models', async (route) => {
    const response = await route.fetch();
    const models = await response.json();
    models.data.push({ ...models.data[0], id: 'attractor-plain' });
    await route.fulfill({ response, json: models });
  });
  await page.goBack();
  await page.reload();
  await expect(article.getByText('Quoted from the documents.').first()).toBeVisible();
  await settled(page);
  await expect(article.getByText('No chat model is configured.')).toHaveCount(0);
  await page.unrouteAll({ behavior: 'wait' });

  await page.context().clearCookies();
  await signIn(page, await keyOf(request, 'viewer'));
  await ask(page);
  await expect(article.getByText('No chat model is configured.')).toBeVisible();
  await expect(article.getByRole('link', { name: 'Set one up' })).toHaveCount(0);
});

test('a conversation is exported, and shared with members by a link that ends', async ({ page }) => {
  await signIn(page);
  await ask(page, 'How long is a refresh token valid, to be shared?');
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export', exact: true }).click();
  const file = await download;
  expect(file.suggestedFilename()).toMatch(/\.md$/);
  expect(await readFile(await file.path(), 'utf8')).toContain('to be shared?');

  await page.getByRole('button', { name: 'Share', exact: true }).click();
  await page.getByRole('button', { name: 'Create link' }).click();
  const link = await page.locator('code').innerText();
  await expectAccessible(page, 'share');
  await page.goto('about:blank');
  await page.goto(link);
  await expect(page.getByText('to be shared?').first()).toBeVisible();
  await expect(page.getByRole('article')).not.toBeEmpty();
  await expectAccessible(page, 'shared');

  // A visitor who is not signed in is asked to sign in, and then reads it
  await page.context().clearCookies();
  await page.reload();
  await page.goto('about:blank');
  await page.goto(link);
  await page.getByLabel('API key').fill(process.env.ATTRACTOR_API_KEY!);
  await page.keyboard.press('Enter');
  await expect(page.getByRole('article')).not.toBeEmpty();

  await page.goto('/');
  await page
    .getByRole('link', { name: /to be shared/ })
    .first()
    .click();
  await page.getByRole('button', { name: 'Share', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Unshare', exact: true }).click();
  await expect(dialog.getByRole('listitem')).toHaveCount(0);
  await page.goto('about:blank');
  await page.goto(link);
  await expect(page.getByRole('article')).toHaveCount(0);
  await expect(page.getByRole('status')).not.toBeEmpty();
});

test('an answer may name characters as HTML does', async ({ page }) => {
  await signIn(page, process.env.MODEL_KEY!);
  await page.getByLabel('Your question').fill('Write exactly: Fish &amp; chips &copy; 2026 &eacute;');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('article')).toContainText('Fish & chips © 2026 é');
});
