import { writeFile } from 'node:fs/promises';
import type { Page } from '@playwright/test';
import { ask, expect, expectAccessible, signIn, test } from './fixtures';

const NOTE = 'The lighthouse of Lanternworks is painted green every seventh spring.\n';

/** Drops a file from the disk as a pointer does, with a file system entry. */
async function dropFile(page: Page, path: string) {
  await writeFile(path, NOTE);
  const box = (await page.getByText('Drop files or folders here').boundingBox())!;
  const devtools = await page.context().newCDPSession(page);
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const) {
    const data = { items: [], files: [path], dragOperationsMask: 1 };
    await devtools.send('Input.dispatchDragEvent', { type, x: box.x + 5, y: box.y + 5, data });
  }
}

test('a file that is sent becomes searchable, is cited, and can be deleted', async ({ page }, testInfo) => {
  await signIn(page);
  await page.getByRole('link', { name: 'Documents' }).click();
  await expect(page.getByRole('listitem').filter({ hasText: 'services.md' })).toContainText('searchable');
  const chosen = page.locator('input[type=file]');
  await page.route('**/v1/documents', (route) => route.abort('connectionreset'), { times: 1 });
  await chosen.setInputFiles([{ name: 'cut.md', mimeType: 'text/markdown', buffer: Buffer.from('# Cut') }]);
  await expect(page.getByText('cut.md could not be added: the connection broke. Try again.')).toBeVisible();
  await chosen.setInputFiles([{ name: 'empty.md', mimeType: 'text/markdown', buffer: Buffer.alloc(0) }]);
  await dropFile(page, testInfo.outputPath('lighthouse.md'));
  await expect(page.getByText(/empty\.md could not be added/)).toBeVisible();
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
  await expect(row).toHaveCount(0);
});
