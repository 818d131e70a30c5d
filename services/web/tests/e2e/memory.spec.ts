import type { Page } from '@playwright/test';
import { ask, expect, expectAccessible, signIn, signInAsViewer, test } from './fixtures';

const open = async (page: Page, name: string) => {
  await page.getByRole('navigation', { name: 'Menu' }).getByRole('link', { name, exact: true }).click();
};

test('what is remembered is seen with its origin, found, changed and forgotten', async ({ page }) => {
  await signIn(page);
  await ask(page, 'I live in Lisbon. How long is a refresh token valid?');
  // Memory stores the turn a moment after the answer
  const stored = async () => (await page.request.get('/v1/memories')).text();
  await expect.poll(stored).toContain('I live in Lisbon');
  await open(page, 'Memory');
  const rows = page.getByRole('main').getByRole('listitem');
  await expect(rows.filter({ hasText: 'I live in Lisbon' }).filter({ hasText: 'from you' }).first()).toBeVisible();

  await page.getByLabel('A note to remember').fill('The harbour review is on Thursday.');
  await page.getByRole('button', { name: 'Remember' }).click();
  const note = rows.filter({ hasText: 'harbour review' });
  await expect(note).toContainText('note');
  await note.getByRole('button', { name: 'Edit' }).click();
  await page.getByLabel('Text of the memory').fill('The harbour review is on Friday.');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(note).toContainText('Friday');
  await expectAccessible(page, 'memory');

  await page.getByLabel('Search memories').fill('When is the harbour review?');
  await expect(note).toHaveCount(1);
  await page.getByLabel('Kind').selectOption('note');
  await expect(note).toHaveCount(1);
  await note.getByRole('button', { name: 'Always keep' }).click();
  await expect(note.getByRole('button', { name: 'Always keep' })).toHaveAttribute('aria-pressed', 'true');
  const forgotten = page.getByLabel('Name, keywords or question');
  const dialog = page.getByRole('alertdialog');
  await forgotten.fill('Lisbon');
  await forgotten.press('Enter');
  await expect(dialog.getByRole('listitem').first()).toBeVisible();
  await expect(dialog).not.toContainText(/and \d+ more/); // all are listed
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await forgotten.fill('harbour review');
  await forgotten.press('Enter');
  await expect(dialog.getByRole('listitem').filter({ hasText: 'Friday' })).toContainText('mentions it');
  await expectAccessible(page, 'forget');
  await dialog.getByRole('button', { name: 'Forget' }).press('Enter');
  await expect(dialog).toContainText('Nothing of it remains in memory.');
  await dialog.getByRole('button', { name: 'Close' }).press('Enter');
  await expect(note).toHaveCount(0);
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export all' }).press('Enter');
  expect((await download).suggestedFilename()).toBe('memories.jsonl');

  await page.getByLabel('Search memories').fill('');
  await page.getByLabel('Kind').selectOption('episode');
  await rows.filter({ hasText: 'I live in Lisbon' }).first().getByRole('link').click();
  await expect(page.getByRole('main').getByRole('log')).toContainText('I live in Lisbon');
  await page.getByRole('main').getByRole('link', { name: 'World state' }).press('Enter');
  await expect(page.getByLabel('World state of').locator('option:checked')).toContainText('I live in Lisbon');
});

test('a conversation has a world state of its own, which also who may only read may change', async ({
  page,
  request,
}) => {
  const headers = await signInAsViewer(page, request);
  const mark = crypto.randomUUID().slice(0, 8);
  const [title, calm, bright] = [`Lighthouse ${mark}`, `A calm harbour ${mark}`, `A bright light ${mark}`];
  const { id } = await (await request.post('/v1/sessions', { headers, data: {} })).json();
  await request.patch(`/v1/sessions/${id}`, { headers, data: { title } });
  await page.goto('/memory/world');
  await page.getByLabel('World state of').selectOption(title);
  await expect(page.getByText('Only you can see it')).toBeVisible();
  await expect(page).toHaveURL(new RegExp(`[?&]session=${id}`));
  const goals = page.getByRole('region', { name: 'Goals' });
  for (const goal of [calm, bright]) {
    const field = goals.getByLabel('Add to: Goals');
    await field.fill(goal);
    await field.press('Enter');
    await expect(goals.getByRole('listitem').filter({ hasText: goal })).toBeVisible();
    await expect(field).toHaveValue('');
  }
  const history = page.getByRole('region', { name: 'History' }).getByRole('listitem');
  await expect(history.first()).toContainText(`Goals: ${bright}`);
  await expectAccessible(page, 'session-world');
  await history
    .nth(1)
    .getByRole('button', { name: /^Restore/ })
    .press('Enter');
  const dialog = page.getByRole('alertdialog');
  await expect(dialog).toContainText(bright);
  await dialog.getByRole('button', { name: 'Restore' }).press('Enter');
  await expect(goals.getByRole('listitem')).toHaveText([new RegExp(calm)]);

  await page.getByLabel('World state of').selectOption('whole workspace');
  await expect(page.getByText('All members can see it')).toBeVisible();
  await expect(page.getByText(calm)).toHaveCount(0);
});

test('the world state is changed, its history tells how, and an earlier version is restored', async ({ page }) => {
  await signIn(page);
  await open(page, 'Memory');
  await page.getByRole('link', { name: 'World state' }).click();
  await page.getByRole('button', { name: 'Edit: Project' }).click();
  const name = `Lighthouse ${crypto.randomUUID().slice(0, 8)}`;
  await page.getByLabel('Value').fill(name);
  await page.getByRole('button', { name: 'Save' }).click();
  const history = page.getByRole('region', { name: 'History' }).getByRole('listitem');
  await expect(history.first()).toContainText(`Project: ${name}`);
  await expect(history.first()).toContainText('by you');
  const version = (await history.first().innerText()).match(/Version (\d+)/)![1]!;
  const goals = page.getByRole('region', { name: 'Goals' });
  await goals.getByLabel('Add to: Goals').fill('A calm harbour');
  await goals.getByRole('button', { name: 'Add: Goals' }).click();
  await expect(goals.getByRole('listitem')).toContainText('A calm harbour');
  await expectAccessible(page, 'world');

  await page.getByRole('button', { name: `Restore: Version ${version}`, exact: true }).focus();
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('alertdialog');
  await expect(dialog).toContainText('A calm harbour');
  await dialog.getByRole('button', { name: 'Restore' }).press('Enter');
  await expect(goals.getByRole('listitem')).toHaveCount(0);
  await expect(history.first()).toContainText('an earlier version was restored');
});

test('who may only read is offered nothing that would be refused', async ({ page, request }) => {
  await signInAsViewer(page, request);
  await open(page, 'Memory');
  await expect(page.getByLabel('Search memories')).toBeVisible();
  await expect(page.getByLabel('A note to remember')).toHaveCount(0);
  await page.getByRole('link', { name: 'World state' }).click();
  await expect(page.getByRole('heading', { name: 'History' })).toBeVisible();
  await expect(page.getByRole('main').getByRole('button', { name: /Edit|Restore|Add/ })).toHaveCount(0);
});
