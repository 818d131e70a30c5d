import { ask, expect, expectAccessible, signIn, test } from './fixtures';

const NOTE = 'The lighthouse of Lanternworks is painted green every seventh spring.\n';

test('a file that is sent becomes searchable, is cited, and can be deleted', async ({ page }) => {
  await signIn(page);
  await page.getByRole('link', { name: 'Documents' }).click();
  await expect(page.getByRole('listitem').filter({ hasText: 'services.md' })).toContainText('searchable');
  await page.locator('input[type=file]').setInputFiles([
    { name: 'lighthouse.md', mimeType: 'text/markdown', buffer: Buffer.from(NOTE) },
    { name: 'empty.md', mimeType: 'text/markdown', buffer: Buffer.alloc(0) },
  ]);
  await expect(page.getByText(/empty\.md was refused/)).toBeVisible();
  const row = page.getByRole('listitem').filter({ has: page.getByRole('button', { name: 'Delete: lighthouse.md' }) });
  await expect(row).toContainText('searchable');
  await expectAccessible(page, 'documents');

  await page.getByRole('link', { name: 'New conversation' }).click();
  await ask(page, 'What colour is the lighthouse of Lanternworks painted?');
  await page
    .getByRole('button', { name: /Open source \d: lighthouse\.md/ })
    .first()
    .click();
  await expect(page.locator('mark')).toContainText('painted green every seventh spring');

  await page.getByRole('link', { name: 'Documents' }).click();
  await row.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await expect(row).toHaveCount(0);
});
