import { mkdir, writeFile } from 'node:fs/promises';
import type { Page } from '@playwright/test';
import { ask, expect, expectAccessible, newWorkspace, signIn, test } from './fixtures';

const NOTE = 'The lighthouse of Lanternworks is painted green every seventh spring.\n';

/** Drops a file from the disk as a pointer does, with a file system entry. */
async function dropFile(page: Page, path: string) {
  await writeFile(path, NOTE);
  const place = page.getByText('Drop files or folders here');
  await place.click({ trial: true }); // it is where it stays
  const box = (await place.boundingBox())!;
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
  const chosen = page.locator('input[type=file]').first();
  await page.route('**/v1/documents', (route) => route.abort('connectionreset'), { times: 1 });
  await chosen.setInputFiles([{ name: 'cut.md', mimeType: 'text/markdown', buffer: Buffer.from('# Cut') }]);
  await expect(page.getByText('cut.md could not be added: the connection broke. Try again.')).toBeVisible();
  await chosen.setInputFiles([{ name: 'empty.md', mimeType: 'text/markdown', buffer: Buffer.alloc(0) }]);
  await dropFile(page, testInfo.outputPath('lighthouse.md'));
  await expect(page.getByText('empty.md could not be added: the file is empty')).toBeVisible();
  await chosen.setInputFiles([{ name: 'photo.xyz', mimeType: 'x/y', buffer: Buffer.from([0, 1, 2]) }]);
  await expect(
    page.getByText('photo.xyz could not be added: the format is not supported (unknown extension)', { exact: true }),
  ).toBeVisible();
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

test('a folder is chosen by keyboard; what is being sent is counted, and what was refused stays', async ({
  page,
  request,
}, testInfo) => {
  await signIn(page, await newWorkspace(request, 'Folders'));
  await page.goto('/documents');
  const folder = testInfo.outputPath('harbour');
  await mkdir(`${folder}/north`, { recursive: true });
  await writeFile(`${folder}/pier.md`, '# Pier\n\nIt is long.\n');
  await writeFile(`${folder}/north/mole.md`, '# Mole\n\nIt is short.\n');
  await writeFile(`${folder}/north/empty.md`, '');
  const choosing = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Choose a folder' }).press('Enter');
  let goOn = () => {};
  const isSeen = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  await page.route('**/v1/documents', async (route) => {
    if (route.request().method() === 'POST') await isSeen;
    await route.continue();
  });
  await (await choosing).setFiles(folder);
  const uploads = page.getByRole('region', { name: 'Uploads' });
  await expect(uploads.getByText('Sending: 0 of 3 done.')).toBeVisible();
  await expect(uploads.getByRole('listitem')).toHaveCount(1);
  goOn();
  await expect(uploads.getByText('Added: 2.')).toBeVisible();
  await expect(uploads.getByRole('listitem')).toHaveText([/^empty\.md could not be added/]);
  for (const name of ['pier.md', 'mole.md'])
    await expect(page.getByRole('main').getByRole('listitem').filter({ hasText: name })).toContainText('searchable');
  await page.unrouteAll({ behavior: 'wait' });
});
