import { bearer, expect, settled, signIn, test } from './fixtures';

test.use({ expected: /status of 403/ });

test("another site's request with the cookie is refused", async ({ page, baseURL }) => {
  await signIn(page);
  const send = async (headers: Record<string, string>) =>
    (await page.request.post('/v1/sessions', { headers, data: {} })).status();
  for (const site of ['cross-site', 'same-site'])
    expect(await send({ 'sec-fetch-site': site, origin: 'https://evil.example' })).toBe(403);
  expect(await send({ origin: 'https://evil.example' })).toBe(403);
  expect(await send({ origin: 'null' })).toBe(403);
  expect(await send({ 'sec-fetch-site': 'same-origin', origin: baseURL! })).toBe(201);
});

test('no secret is where a script can read it', async ({ page, context, request }) => {
  const secrets = [process.env.ATTRACTOR_API_KEY!];
  const { code } = await (await request.post('/v1/auth/codes', { headers: bearer() })).json();
  secrets.push(code);
  await page.goto(`/#code=${code}`);
  await expect(page.getByLabel('Your question')).toBeVisible();
  await context.clearCookies();
  await signIn(page);
  secrets.push(...(await context.cookies()).map((cookie) => cookie.value));
  expect(secrets.length).toBeGreaterThan(2);

  await page.goto('/admin/settings');
  await page.getByLabel('Name of a new provider').fill('secretive');
  await page.getByLabel('Base URL').fill('https://model.example.org/v1');
  await page.getByLabel('Key (never shown again)').fill('hush-hush-4711');
  secrets.push('hush-hush-4711');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('listitem').filter({ hasText: 'secretive' })).toBeVisible();

  await page.goto('/admin/keys');
  await page.getByLabel(/^Name of a new key/).fill('soon hidden');
  await page.keyboard.press('Enter');
  secrets.push(await page.getByRole('main').locator('code').innerText());
  for (const path of ['/admin/keys', '/admin/settings', '/', '/memory', '/documents', '/admin/audit']) {
    await page.goto(path);
    await expect(page.getByRole('main')).not.toHaveAttribute('aria-busy');
    await settled(page);
    const readable = await page.evaluate(async () => {
      const databases = (await indexedDB.databases()).map(({ name }) => name);
      const cached = await caches.keys();
      const stored = [{ ...localStorage }, { ...sessionStorage }, history.state];
      const fields = [...document.querySelectorAll('input, textarea')].map(
        (field) => (field as HTMLInputElement).value,
      );
      const page = [document.cookie, location.href, document.documentElement.outerHTML];
      return JSON.stringify([databases, cached, stored, fields, page]);
    });
    for (const secret of secrets) expect(readable.includes(secret), `${secret.slice(0, 6)}… on ${path}`).toBe(false);
  }
  await request.delete('/v1/settings/providers.secretive.base_url', {
    headers: bearer(),
    params: { scope: 'workspace' },
  });
});
