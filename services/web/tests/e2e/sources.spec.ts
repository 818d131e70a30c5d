import { mkdir, rm, writeFile } from 'node:fs/promises';
import { expect, expectAccessible, signIn, signInAsViewer, test } from './fixtures';

test('a folder is watched: tried first, synchronised, paused, and deleted with its documents', async ({ page }) => {
  const name = `Harbour ${crypto.randomUUID().slice(0, 8)}`;
  const folder = `${process.env.STACK}/documents/${name.replaceAll(' ', '-')}`;
  await mkdir(folder, { recursive: true });
  await writeFile(`${folder}/pier.md`, `# Pier of ${name}\n\nIt is closed.\n`);
  await signIn(page);
  await page.goto('/documents');
  await page.getByRole('link', { name: 'Watched sources' }).press('Enter');
  const main = page.getByRole('main');
  await main.getByRole('button', { name: 'New source' }).press('Enter');
  await expect(main.getByLabel('Name')).toBeFocused();
  await page.keyboard.type(name);
  await expect(main.getByLabel('Synchronise', { exact: true }).locator('option:checked')).toHaveText('on request');
  await main.getByLabel('Path on the server').fill('/nowhere');
  await expectAccessible(page, 'new-source');
  await page.keyboard.press('Enter');
  await expect(main.getByRole('alert').filter({ hasText: 'SOURCE_ROOTS' })).toBeVisible(); // why it is refused
  await main.getByLabel('Path on the server').fill(folder);
  await page.keyboard.press('Enter');

  const plan = main.getByRole('region', { name: 'What a synchronisation would do' });
  await expect(plan.getByText('1 new', { exact: true })).toBeVisible();
  await expect(plan.getByRole('listitem').filter({ hasText: 'pier.md' })).toContainText('new');
  const row = main.getByRole('listitem').filter({ hasText: name }).first();
  await expect(row).toContainText('Paused.');
  await expect(row).toContainText('Not synchronised yet.');
  await expectAccessible(page, 'source-plan');
  await plan.getByRole('button', { name: 'Close' }).press('Enter');
  await row.getByRole('button', { name: `Synchronise now: ${name}` }).press('Enter');
  await expect(row).toContainText(/Synchronised .*: 1 new/);
  await expect(row).not.toContainText('Paused.');
  await row.getByRole('button', { name: `Changes: ${name}` }).press('Enter');
  await expect(row.getByRole('region')).toContainText('pier.md');
  await row.getByRole('button', { name: `Pause: ${name}` }).press('Enter');
  await expect(row).toContainText('Paused.');
  await row.getByRole('button', { name: `Resume: ${name}` }).press('Enter');
  await expect(row).not.toContainText('Paused.');

  await rm(folder, { recursive: true });
  await row.getByRole('button', { name: `Synchronise now: ${name}` }).press('Enter');
  await expect(row).toContainText(/Failed .*: /); // with a sentence, and its documents stay
  await expectAccessible(page, 'sources');
  await row.getByRole('button', { name: `Delete: ${name}` }).press('Enter');
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete documents: 1' }).press('Enter');
  await expect(main.getByText(name, { exact: true })).toHaveCount(0);
  const notices = page.getByRole('region', { name: 'Notices' });
  await notices.getByRole('button', { name: /^Close/ }).press('Enter');
  await expect(notices.getByText('Nothing of it is left.')).toBeVisible();
});

test('who may only read sees the sources, and is offered no change', async ({ page, request }) => {
  await signInAsViewer(page, request);
  await page.goto('/documents/sources');
  await expect(page.getByText(/No sources yet\.|Synchronised|Not synchronised/).first()).toBeVisible();
  await expect(page.getByRole('main').getByRole('button')).toHaveCount(0);
});
