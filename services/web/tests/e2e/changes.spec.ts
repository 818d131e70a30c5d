import type { Page, Request } from '@playwright/test';
import { bearer, expect, signIn, tab, test, watched } from './fixtures';

test('what another person adds or deletes is seen without a reload', async ({ page, request }) => {
  await signIn(page);
  await page.goto('/documents');
  const name = `tide-${crypto.randomUUID().slice(0, 8)}.md`;
  const row = page.getByRole('main').getByRole('listitem').filter({ hasText: name });
  await expect(page.getByRole('main').getByRole('listitem').first()).toBeVisible();
  const buffer = Buffer.from(`# Tide\n\nThe tide of ${name} is high.\n`);
  const multipart = { files: { name, mimeType: 'text/markdown', buffer } };
  const sent = await (await request.post('/v1/documents', { headers: bearer(), multipart })).json();
  await expect(row.last()).toContainText('searchable');
  await request.delete(`/v1/documents/${sent.files[0].document.id}`, { headers: bearer() });
  await expect(row).toHaveCount(0);
});

const WINDOWS = 8;

test('eight windows of a browser learn of changes over one connection, which another one takes over', async ({
  page,
  context,
  request,
  baseURL,
}) => {
  await signIn(page);
  const windows: { page: Page; reads: Set<Request> }[] = [];
  const wrong: string[][] = [];
  await page.close();
  for (let number = 0; number < WINDOWS; number++) {
    const opened = await context.newPage();
    const reads = new Set<Request>();
    opened.on('request', (each) => each.url().endsWith('/v1/events') && reads.add(each));
    opened.on('requestfinished', (each) => reads.delete(each));
    opened.on('requestfailed', (each) => reads.delete(each));
    wrong.push(watched(opened, baseURL!, undefined));
    windows.push({ page: opened, reads });
    await opened.goto('/documents');
    await expect(opened.getByRole('main').getByRole('listitem').first()).toBeVisible();
  }
  const reading = () => windows.filter(({ reads }) => reads.size > 0);
  await expect.poll(() => reading().length).toBe(1);
  const name = `tide-${crypto.randomUUID().slice(0, 8)}.md`;
  const row = (each: Page) => each.getByRole('main').getByRole('listitem').filter({ hasText: name });
  const multipart = { files: { name, mimeType: 'text/markdown', buffer: Buffer.from(`# Tide\n\n${name}\n`) } };
  const sent = await (await request.post('/v1/documents', { headers: bearer(), multipart })).json();
  for (const each of windows) await expect(row(each.page).last()).toContainText('searchable');

  const [closed] = reading();
  await closed!.page.close();
  windows.splice(windows.indexOf(closed!), 1);
  await expect.poll(() => reading().length).toBe(1);
  const [hidden] = reading();
  await tab(hidden!.page, 'hidden');
  await expect.poll(() => reading().filter((each) => each !== hidden).length).toBe(1);
  await expect.poll(() => hidden!.reads.size).toBe(0);
  await request.delete(`/v1/documents/${sent.files[0].document.id}`, { headers: bearer() });
  for (const each of windows.filter((each) => each !== hidden)) await expect(row(each.page)).toHaveCount(0);
  await expect(row(hidden!.page)).not.toHaveCount(0); // it learns of nothing until it is seen
  await tab(hidden!.page, 'visible');
  await expect(row(hidden!.page)).toHaveCount(0);
  await expect.poll(() => reading().length).toBe(1);
  expect(wrong.flat()).toEqual([]);
});
