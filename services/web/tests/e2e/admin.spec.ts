import { bearer, expect, expectAccessible, newWorkspace, signIn, signInAsViewer, test } from './fixtures';

test('an owner sees how the services are, what was used and done, and decides who comes in', async ({
  page,
  request,
}) => {
  const headers = { authorization: `Bearer ${process.env.ATTRACTOR_API_KEY}` };
  const { workspace } = await (await request.get('/v1/me', { headers })).json();
  const place = `/v1/workspaces/${workspace.id}/invitations`;
  const { token } = await (await request.post(place, { headers, data: { name: 'Grete', role: 'viewer' } })).json();
  const joined = await request.post('/v1/invitations/accept', { data: { token, name: 'Grete' } });
  expect(joined.status()).toBe(201);

  await signIn(page);
  await page.getByRole('link', { name: 'Administration' }).click();
  await expect(page.getByText('All services are ready.')).toBeVisible();
  // Simulates an event that a service has given up
  const letter = { id: 'documents-1-0', stream: 'documents', service: 'retrieval', type: 'document.converted.v3' };
  const about = { subject: crypto.randomUUID(), workspace_id: workspace.id, reason: 'OSError: the disk is full' };
  const letters = [{ ...letter, ...about, failed_at: '2026-01-01T00:00:00Z' }];
  await page.route('**/v1/dead-letters**', async (route) => {
    if (route.request().method() === 'GET') return await route.fulfill({ json: { items: letters, next_cursor: null } });
    const { ids } = route.request().postDataJSON();
    letters.splice(0, ids.length);
    await route.fulfill({ json: { replayed: ids.length } });
  });
  await page.reload();
  await expect(page.getByText('Dead letters: 1 (retrieval).')).toBeVisible();
  await expect(page.getByText('All services are ready.')).toHaveCount(0);
  await expect(page.getByRole('cell', { name: 'Events “documents” for memory' })).toBeVisible();
  await expectAccessible(page, 'operations');
  await page.getByRole('button', { name: 'Replay: OSError: the disk is full' }).press('Enter');
  await page.getByRole('alertdialog').getByRole('button', { name: 'Replay' }).press('Enter');
  await expect(page.getByText('Replayed: 1.')).toBeVisible();
  await expect(page.getByText('All services are ready.')).toBeVisible();
  await page.getByRole('link', { name: 'Runs' }).click();
  await expect(
    page
      .getByText(/^\d[\d.,]* s/)
      .or(page.getByText('No runs yet. Each answer is one.'))
      .first(),
  ).toBeVisible();
  await expectAccessible(page, 'runs');
  await page.getByRole('link', { name: 'Usage' }).click();
  await expect(page.getByText(/Model calls from/)).toBeVisible();
  await expectAccessible(page, 'usage');

  const main = page.getByRole('main');
  await page.getByRole('link', { name: 'Settings' }).click();
  await main.getByRole('spinbutton', { name: 'Passages' }).fill('7');
  await page.keyboard.press('Enter');
  await main.getByRole('button', { name: 'Reset to default: Passages' }).press('Enter');
  await expect(main.getByRole('spinbutton', { name: 'Passages' })).toHaveValue('');
  await main.getByRole('button', { name: 'Add a model: Writes answers' }).press('Enter');
  await expectAccessible(page, 'settings');
  await page.getByRole('link', { name: 'Presets' }).click();
  await main.getByRole('button', { name: 'New preset' }).press('Enter');
  const preset = `brief-${crypto.randomUUID().slice(0, 8)}`;
  await main.getByLabel(/^Name: lowercase letters/).fill(preset);
  await main.getByLabel('Instructions').fill('Answer in one sentence.');
  await expectAccessible(page, 'preset');
  await main.getByRole('button', { name: 'Save' }).press('Enter');
  await expect(main.getByRole('listitem').filter({ hasText: preset })).toContainText('Answer in one sentence.');
  await main.getByRole('button', { name: `Delete: ${preset}` }).press('Enter');
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).press('Enter');
  await expect(main.getByText(preset)).toHaveCount(0);

  await page.getByRole('link', { name: 'Quick actions' }).press('Enter');
  await main.getByRole('button', { name: 'New quick action' }).press('Enter');
  const action = `Harbour ${crypto.randomUUID().slice(0, 8)}`;
  await expect(main.getByLabel('Name')).toBeFocused();
  await page.keyboard.type(action);
  await main.getByLabel('Prompt').fill('Write it for sailors.');
  await main.getByLabel('for all members of the workspace').press('Space');
  await expectAccessible(page, 'quick-action');
  await main.getByRole('button', { name: 'Save' }).press('Enter');
  const row = main.getByRole('listitem').filter({ hasText: action });
  await expect(row).toContainText('whole workspace');
  await row.getByRole('button', { name: /^Edit/ }).press('Enter');
  await main.getByLabel('Prompt').fill('Write it for children.');
  await page.getByRole('button', { name: 'Save' }).press('Enter');
  await expect(row).toContainText('Write it for children.');
  await expectAccessible(page, 'quick-actions');
  await row.getByRole('button', { name: /^Delete/ }).press('Enter');
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).press('Enter');
  await expect(row).toHaveCount(0);

  await page.getByRole('link', { name: 'People' }).click();
  const role = main.getByLabel('Role of Grete').first();
  await role.selectOption('editor');
  await expect(role).toHaveValue('editor');
  await main.getByLabel('Name of the invited person (optional)').fill('Hans');
  await page.keyboard.press('Enter');
  await expect(main.locator('code')).toContainText('/join#ati_');
  await expectAccessible(page, 'people');
  await main.getByRole('button', { name: 'Revoke: Hans' }).first().click();
  await expect(main.getByRole('button', { name: 'Revoke: Hans' })).toHaveCount(0);
  await main.getByRole('button', { name: 'Remove: Grete' }).first().click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Remove' }).click();
  await expect(main.getByRole('button', { name: 'Remove: Grete' })).toHaveCount(0);

  await page.getByRole('link', { name: 'Audit trail' }).click();
  await expect(main.getByText('member.remove', { exact: true }).first()).toBeVisible();
  await main.getByLabel(/^Action or its prefix/).fill('invitation');
  await expect(main.getByText('member.remove', { exact: true })).toHaveCount(0);
  await main.getByText('Details').first().press('Enter');
  await expect(main.getByText(/trace_id/).first()).toBeVisible();
  await expectAccessible(page, 'audit');
});

test('a key is made, shown once and revoked; whom it belongs to sees the parts of the role', async ({ page }) => {
  await signIn(page);
  await page.goto('/admin/keys');
  const name = `robot ${crypto.randomUUID().slice(0, 8)}`;
  await page.getByLabel(/^Name of a new key/).fill(name);
  await page.keyboard.press('Enter');
  const key = await page.getByRole('main').locator('code').innerText();
  expect(key).toMatch(/^atr_/);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('button', { name: 'Copy', exact: true }).press('Enter');
  await expect(page.getByRole('button', { name: 'Copied', exact: true })).toBeFocused();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(key);
  await expectAccessible(page, 'keys');

  const own = page.context();
  await own.clearCookies();
  await page.goto('/');
  await page.getByLabel('API key').fill(key);
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'Administration' }).click();
  await expect(page.getByRole('link', { name: 'Usage' })).toBeVisible();
  await expect(page.getByRole('link', { name: 'People' })).toHaveCount(0);
  await expect(page.getByRole('link', { name: 'Audit trail' })).toHaveCount(0);
  await page.goto('/admin/audit');
  await expect(page.getByText('Page not found.')).toBeVisible();

  await own.clearCookies();
  await signIn(page);
  await page.goto('/admin/keys');
  await page.getByRole('button', { name: `Revoke: ${name}` }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke' }).click();
  await expect(page.getByRole('listitem').filter({ hasText: name })).toContainText('revoked');
});

test('who may only read makes own quick actions, and cannot change those of the workspace', async ({
  page,
  request,
}) => {
  const headers = { authorization: `Bearer ${process.env.ATTRACTOR_API_KEY}` };
  const name = `Ours ${crypto.randomUUID().slice(0, 8)}`;
  await request.post('/v1/quick-actions', { headers, data: { name, prompt: 'Make it brief.', shared: true } });
  await signInAsViewer(page, request);
  await page.goto('/admin/quick-actions');
  const ours = page.getByRole('listitem').filter({ hasText: name });
  await expect(ours).toBeVisible();
  await expect(ours.getByRole('button')).toHaveCount(0);
  await page.getByRole('button', { name: 'New quick action' }).press('Enter');
  await expect(page.getByLabel('Prompt')).toBeVisible();
  await expect(page.getByLabel('for all members of the workspace')).toHaveCount(0);
});

test('language and colours are chosen, and stay in this browser', async ({ page }) => {
  await signIn(page);
  await page.goto('/admin/settings');
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await ground();
  await page.getByLabel('Colours').selectOption('dark');
  await expect.poll(ground).not.toBe(light);
  await page.getByLabel('Interface language').selectOption('Deutsch');
  await expect(page.getByRole('heading', { name: 'In diesem Browser' })).toBeVisible();
  await expect(page.locator('html')).toHaveAttribute('lang', 'de');
  expect(await ground()).not.toBe(light);
  await page.getByLabel('Farben').selectOption('wie im Browser eingestellt');
  await expect.poll(ground).toBe(light);
});

test('nothing moves for who asked for less motion', async ({ page }) => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await signIn(page);
  for (const path of ['/', '/graph?entity=AuthService', '/memory', '/admin/settings']) {
    await page.goto(path);
    await expect(page.getByRole('main')).not.toHaveAttribute('aria-busy');
    const moves = await page.evaluate(() => {
      const probe = document.body.appendChild(document.createElement('p'));
      probe.style.transition = 'opacity 5s';
      probe.style.animation = 'any 5s infinite';
      const { transitionProperty, animationName } = getComputedStyle(probe);
      const { scrollBehavior } = getComputedStyle(document.documentElement);
      probe.remove();
      return { transitionProperty, animationName, scrollBehavior, running: document.getAnimations().length };
    });
    expect(moves, path).toEqual({
      transitionProperty: 'none',
      animationName: 'none',
      scrollBehavior: 'auto',
      running: 0,
    });
  }
});

test('an owner limits what is stored, sent and spent', async ({ page, request }) => {
  const key = await newWorkspace(request, 'Limits');
  await signIn(page, key);
  await page.getByRole('link', { name: 'Administration' }).click();
  await page.getByRole('link', { name: 'Limits' }).press('Enter');
  const main = page.getByRole('main');
  const set = async (name: string, value: string) => {
    await main.getByRole('spinbutton', { name, exact: true }).fill(value);
    await page.keyboard.press('Enter');
    await expect(main.getByRole('button', { name: `Save: ${name}`, exact: true })).toHaveCount(0);
  };
  const keeps = (name: string) => {
    const multipart = { files: { name, mimeType: 'text/markdown', buffer: Buffer.from(`# ${name}\n`) } };
    return request.post('/v1/documents', { headers: bearer(key), multipart });
  };
  expect((await keeps('first.md')).status()).toBe(202);
  await set('Documents', '1');
  const refused = await keeps('second.md');
  expect([refused.status(), (await refused.json()).type]).toEqual([409, 'quota-exceeded']);
  await expect(main.getByText('Now 1', { exact: true })).toBeVisible();
  await set('Megabytes of original files', '1.5');
  await set('Requests per minute of each API key', '500');
  await set('Budget of each person per day', '5000');
  expect((await request.get('/v1/me', { headers: bearer(key) })).headers()['ratelimit-limit']).toBe('500');
  await expectAccessible(page, 'limits');
  await page.reload();
  await expect(main.getByRole('spinbutton', { name: 'Megabytes of original files' })).toHaveValue('1.5');
  await set('Documents', '');
  expect((await keeps('second.md')).status()).toBe(202);
  await page.getByRole('link', { name: 'Usage' }).click();
  await expect(page.getByText('0 of 5,000 tokens')).toBeVisible();
  await page.getByRole('link', { name: 'Change the budgets' }).press('Enter');
  await main.getByRole('button', { name: 'Reset to default: Budget of each person per day' }).press('Enter');
  await expect(main.getByRole('spinbutton', { name: 'Budget of each person per day' })).toHaveValue('');
});

test('an owner sees the runs of all persons, but nothing of what they asked', async ({ page, request }) => {
  const key = await newWorkspace(request, 'Runs');
  const { workspace } = await (await request.get('/v1/me', { headers: bearer(key) })).json();
  const place = `/v1/workspaces/${workspace.id}/invitations`;
  const { token } = await (await request.post(place, { headers: bearer(key), data: { role: 'viewer' } })).json();
  const joined = await request.post('/v1/invitations/accept', { data: { token, name: 'Grete' } });
  const headers = bearer((await joined.json()).key.key);
  const { id } = await (await request.post('/v1/sessions', { headers, data: {} })).json();
  const data = { content: 'Where is the treasure?' };
  const run = await (await request.post(`/v1/sessions/${id}/messages`, { headers, data })).json();
  const status = async () => (await (await request.get(`/v1/runs/${run.id}`, { headers })).json()).status;
  await expect.poll(status).toBe('completed'); // the page learns of its reader's own runs alone
  await signIn(page, key);
  await page.goto('/admin/runs');
  await expect(page.getByText('No runs yet. Each answer is one.')).toBeVisible();
  await page.getByLabel('Whose').selectOption('everyone’s');
  const row = page.getByRole('main').getByRole('listitem').filter({ hasText: 'Grete' });
  await expect(row).toContainText('done');
  await expect(row).toContainText(' s');
  await expect(page.getByText('treasure')).toHaveCount(0);
  await expectAccessible(page, 'runs-of-all');
  const asked = await request.get('/v1/usage/runs', { headers: bearer(key) });
  expect(await asked.text()).not.toContain('treasure');
  expect((await request.get(`/v1/runs/${run.id}`, { headers: bearer(key) })).status()).toBe(404);
});
