import { bearer, expect, signIn, test } from './fixtures';

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
