import type { APIRequestContext, Page } from '@playwright/test';
import { expect, expectAccessible, signIn, test } from './fixtures';

const headers = () => ({ authorization: `Bearer ${process.env.ATTRACTOR_API_KEY}` });

async function session(request: APIRequestContext): Promise<{ id: string; title: string }> {
  const title = `Lighthouse ${crypto.randomUUID().slice(0, 8)}`;
  const { id } = await (await request.post('/v1/sessions', { headers: headers(), data: {} })).json();
  await request.patch(`/v1/sessions/${id}`, { headers: headers(), data: { title } });
  return { id, title };
}

async function document(request: APIRequestContext): Promise<{ id: string; name: string }> {
  const name = `pier-${crypto.randomUUID().slice(0, 8)}.md`;
  const buffer = Buffer.from(`# Pier\n\nThe pier ${name} is closed.\n`);
  const multipart = { files: { name, mimeType: 'text/markdown', buffer } };
  const { files } = await (await request.post('/v1/documents', { headers: headers(), multipart })).json();
  const id = files[0].document.id;
  const query = 'wait=settled&timeout=120';
  const settled = await request.get(`/v1/documents/${id}?${query}`, { headers: headers(), timeout: 150_000 });
  expect((await settled.json()).status).toBe('searchable');
  return { id, name };
}

const status = async (request: APIRequestContext, path: string) =>
  (await request.get(path, { headers: headers() })).status();
const deletes = (page: Page) => {
  const seen: string[] = [];
  page.on('request', (sent) => sent.method() === 'DELETE' && seen.push(new URL(sent.url()).pathname));
  return seen;
};

test('a deleted conversation is gone at once, and is there again when that is undone', async ({ page, request }) => {
  const { id, title } = await session(request);
  await signIn(page);
  const sent = deletes(page);
  await page.goto(`/c/${id}`);
  const entry = page.getByRole('link', { name: title });
  await page.getByRole('button', { name: `Options for ${title}` }).press('Enter');
  await page.getByRole('menuitem', { name: 'Delete' }).press('Enter');
  await expect(entry).toHaveCount(0);
  await expect(page).toHaveURL(/\/$/);
  const undo = page.getByRole('region', { name: 'Notices' }).getByRole('button', { name: 'Undo' });
  await expect(undo).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(entry).toBeVisible();
  await expect(page).toHaveURL(new RegExp(`/c/${id}$`));
  expect(sent).toEqual([]);
  expect(await status(request, `/v1/sessions/${id}`)).toBe(200);
  await page.getByRole('button', { name: `Options for ${title}` }).press('Enter');
  await page.getByRole('menuitem', { name: 'Delete' }).press('Enter');
  await expect(undo).toBeFocused();
  await expectAccessible(page, 'undo');
});

test('who leaves the page after a deletion has deleted', async ({ page, request }) => {
  const { id, title } = await session(request);
  await signIn(page);
  await page.getByRole('button', { name: `Options for ${title}` }).press('Enter');
  await page.getByRole('menuitem', { name: 'Delete' }).press('Enter');
  await expect(page.getByRole('button', { name: 'Undo' })).toBeFocused();
  await page.goto('about:blank');
  await expect.poll(() => status(request, `/v1/sessions/${id}`)).toBe(404);
});

test('a document is deleted everywhere, and the receipt says what is left', async ({ page, request }) => {
  const { id, name } = await document(request);
  await signIn(page);
  await page.goto('/documents');
  const remove = page
    .getByRole('button', { name: `Delete: ${name}` })
    .or(page.getByRole('button', { name: 'Delete: Pier' }));
  await remove.first().press('Enter');
  const notices = page.getByRole('region', { name: 'Notices' });
  await expect(notices.getByRole('button', { name: 'Undo' })).toBeFocused();
  await notices.getByRole('button', { name: /^Close/ }).press('Enter'); // no more time is needed
  await expect(notices.getByText('Nothing of it is left.')).toBeVisible();
  expect(await status(request, `/v1/documents/${id}`)).toBe(404);
  await notices.getByRole('button', { name: 'Receipt' }).press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Receipt' });
  await expect(dialog.getByRole('row', { name: /retrieval/ }).first()).toBeVisible();
  await expect(dialog.getByText('Nothing of it is left.')).toBeVisible();
  await expectAccessible(page, 'receipt');
  await dialog.getByRole('button', { name: 'Close' }).press('Enter');
  await notices.getByRole('button', { name: /^Close/ }).press('Enter');
  await expect(notices.getByRole('button')).toHaveCount(0);
  await page.getByText(/^Deleted since this page was opened/).click();
  await page
    .getByRole('main')
    .getByRole('button', { name: /^Receipt/ })
    .first()
    .press('Enter');
  await expect(dialog).toBeVisible();
});

test('a deletion that is refused says why, and what was to be deleted is there again', async ({ page, request }) => {
  const { id, title } = await session(request);
  await signIn(page);
  const problem = { type: 'conflict', title: 'Conflict', detail: 'It was changed.', status: 409 };
  await page.route(`**/v1/sessions/${id}`, async (route) =>
    route.request().method() === 'DELETE' ? route.fulfill({ status: 409, json: problem }) : route.continue(),
  );
  await page.getByRole('button', { name: `Options for ${title}` }).press('Enter');
  await page.getByRole('menuitem', { name: 'Delete' }).press('Enter');
  const notices = page.getByRole('region', { name: 'Notices' });
  await notices.getByRole('button', { name: /^Close/ }).press('Enter');
  await expect(notices.getByRole('alert')).toContainText('It was changed.');
  await expect(page.getByRole('link', { name: title })).toBeVisible();
});

test('a memory is forgotten with a receipt, and not if that is undone', async ({ page }) => {
  await signIn(page);
  await page.goto('/memory');
  const text = `The pier of ${crypto.randomUUID().slice(0, 8)} is closed.`;
  await page.getByLabel('A note to remember').fill(text);
  await page.getByRole('button', { name: 'Remember' }).press('Enter');
  const note = page.getByRole('main').getByRole('listitem').filter({ hasText: text });
  const forget = note.getByRole('button', { name: /^Forget/ });
  await forget.press('Enter');
  await expect(note).toHaveCount(0);
  const notices = page.getByRole('region', { name: 'Notices' });
  await expect(notices.getByRole('button', { name: 'Undo' })).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(note).toBeVisible();
  await forget.press('Enter');
  await notices.getByRole('button', { name: /^Close/ }).press('Enter');
  await expect(notices.getByText('Nothing of it is left.')).toBeVisible();
  await expect(note).toHaveCount(0);
});
