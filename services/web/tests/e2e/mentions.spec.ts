import { ask, expect, expectAccessible, settled, signIn, test } from './fixtures';

test('an @ names a document, by keyboard alone, and the answer draws on it only, also after a reload', async ({
  page,
}) => {
  await signIn(page);
  const field = page.getByLabel('Your question');
  await page.keyboard.type('Who was the incident lead? @');
  const list = page.getByRole('listbox', { name: 'Documents' });
  await expect(list.getByRole('option')).not.toHaveCount(0);
  await expectAccessible(page, 'mention');
  await page.keyboard.type('services');
  const option = list.getByRole('option', { name: /services\.md/ });
  await expect(option).toHaveAttribute('aria-selected', 'true');
  await expect(list.getByRole('option')).toHaveCount(1);
  await expect(field).toHaveAttribute('aria-activedescendant', (await option.getAttribute('id'))!);
  await page.keyboard.press('Enter');
  await expect(list).toHaveCount(0);
  await expect(field).toHaveValue('Who was the incident lead? ');
  const named = page.getByRole('list', { name: 'Only from:' });
  await expect(named.getByRole('listitem')).toHaveCount(1);
  await page.reload(); // a draft with what it names
  await expect(named.getByRole('listitem')).toHaveCount(1);
  await expectAccessible(page, 'mention-chosen');

  const sent = page.waitForRequest((request) => request.method() === 'POST' && request.url().endsWith('/messages'));
  await field.focus();
  await page.keyboard.press('Enter');
  expect((await sent).postDataJSON().document_ids).toHaveLength(1);
  await expect(page.getByText(/citations? checked/)).toBeVisible();
  const log = page.getByRole('log');
  await expect(log.getByRole('list', { name: 'Only from:' })).toHaveCount(1);
  await expect(page.getByRole('main').getByRole('form').or(page.locator('form')).getByRole('list')).toHaveCount(0);
  await expect(page.getByRole('button', { name: /Open source \d: INC-112/ })).toHaveCount(0);
  await page.reload();
  await expect(log.getByRole('list', { name: 'Only from:' })).toHaveCount(1);
  await page.getByText(/^Sources considered/).click();
  await expectAccessible(page, 'considered');

  // An edit asks the same documents
  const again = page.waitForRequest((request) => request.method() === 'POST' && request.url().endsWith('/messages'));
  await log.getByRole('button', { name: 'Edit' }).click();
  await page.getByLabel('Edit your question').fill('Which services are there?');
  await page.getByRole('button', { name: 'Send' }).first().click();
  expect((await again).postDataJSON().document_ids).toHaveLength(1);
});

test('Escape leaves the @ as text, an arrow chooses another document, and what was chosen can be removed', async ({
  page,
}) => {
  await signIn(page);
  const field = page.getByLabel('Your question');
  const options = page.getByRole('option');
  await page.keyboard.type('@');
  await expect(options).not.toHaveCount(0);
  await page.keyboard.press('Escape');
  await expect(options).toHaveCount(0);
  await page.keyboard.type('zz');
  await expect(options).toHaveCount(0);
  await expect(field).toHaveValue('@zz');
  await field.fill('');
  await page.keyboard.type('@');
  await expect(options).not.toHaveCount(0);
  await page.keyboard.press('ArrowDown');
  await expect(options.nth(1)).toHaveAttribute('aria-selected', 'true');
  await page.keyboard.press('Tab');
  await expect(field).toBeFocused();
  const named = page.getByRole('list', { name: 'Only from:' });
  await named.getByRole('button', { name: /^Remove/ }).press('Enter');
  await expect(named).toHaveCount(0);
  await expect(field).toBeFocused();
});

test('what a turn showed is shown after a reload: the steps, what was found, and that none of it matched', async ({
  page,
}) => {
  await signIn(page);
  await ask(page, 'Which colour does the moon of Zanzibar have on Tuesdays?');
  const answer = page.getByRole('article');
  const weak = answer.getByText('Nothing in the documents matches this question well.');
  await expect(weak).toBeVisible();
  await settled(page);
  await page.reload();
  await expect(answer.getByText('Steps')).toBeVisible();
  await expect(weak).toBeVisible();
  await answer.getByText(/^Sources considered/).click();
  await expect(answer.getByText('(not cited)').first()).toBeVisible();
});

test('the Enter that ends a composition of an input method sends nothing', async ({ page }) => {
  await signIn(page);
  const field = page.getByLabel('Your question');
  await field.fill('東京はどこですか');
  // Chromium and Firefox say that they compose, Safari gives the key a code of its own
  for (const how of [{ isComposing: true }, { keyCode: 229 }])
    await field.evaluate((element, { ...init }) => {
      const event = { key: 'Enter', bubbles: true, cancelable: true, ...init };
      element.dispatchEvent(new KeyboardEvent('keydown', event));
    }, how);
  await expect(field).toHaveValue('東京はどこですか');
  await expect(page).toHaveURL(/\/$/);
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/\/c\//);
});
