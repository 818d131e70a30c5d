import { ask, expect, expectAccessible, QUESTION, settled, signIn, test } from './fixtures';

test('a question is answered, and its citation opens the page with the words marked', async ({ page }) => {
  await page.goto('/');
  await expect(page.getByLabel('API key')).toBeVisible();
  await expectAccessible(page, 'sign-in');
  await signIn(page);
  await expectAccessible(page, 'front');
  await ask(page);
  const chip = page.getByRole('button', { name: /Open source \d: Identity handbook/ }).first();

  await expect(async () => {
    await page.mouse.move(5, 5); // the pointer is used before it reaches the number
    await chip.hover();
    await expect(page.getByRole('tooltip')).toContainText(/refresh token/i, { timeout: 2_000 });
  }).toPass({ timeout: 90_000 }); // what is scrolled meanwhile hides it

  await chip.click();
  await expect(page.getByTestId('frame')).toBeVisible();
  await expect(page.getByTestId('word').first()).toBeVisible();
  await expectAccessible(page, 'pdf');
  const sheet = page.getByRole('img', { name: /^page \d+:/ });
  const width = async () => (await sheet.boundingBox())?.width ?? 0; // none while the page is drawn again
  await expect.poll(width).toBeGreaterThan(0);
  const before = await width();
  await page.getByRole('button', { name: 'Zoom in' }).press('Enter');
  await page.getByRole('button', { name: 'Zoom in' }).press('Enter');
  await expect(page.getByText('150 %')).toBeVisible();
  await expect.poll(async () => (await width()) / before).toBeCloseTo(1.5, 1);
  await expect(page.getByTestId('word').first()).toBeInViewport();
  await expectAccessible(page, 'pdf-zoomed');
  const original = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download the original' }).press('Enter');
  expect((await original).suggestedFilename()).toBe('identity-handbook.pdf');

  // The URL holds the citation, so everyone with access sees the same
  await page.reload();
  await expect(page.getByTestId('word').first()).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByTestId('frame')).toBeHidden();

  // A Markdown document has no pages: its text opens instead, also marked
  await page.goto('/');
  await ask(page, 'Who was the incident lead of INC-112?');
  await page
    .getByRole('button', { name: /Open source \d: INC-112/ })
    .first()
    .click();
  await expect(page.locator('mark')).toContainText(/Priya Raman/);
  await expectAccessible(page, 'text');
});

test('the link that the start prints signs in, once', async ({ page, request }) => {
  const headers = { authorization: `Bearer ${process.env.ATTRACTOR_API_KEY}` };
  const { code } = await (await request.post('/v1/auth/codes', { headers })).json();
  await page.goto(`/#code=${code}`);
  await expect(page.getByLabel('Your question')).toBeVisible();
  expect(new URL(page.url()).hash).toBe('');
  await page.context().clearCookies();
  await page.goto('about:blank');
  await page.goto(`/#code=${code}`);
  await expect(page.getByRole('alert')).toContainText('sign-in link');
});

test('who is invited opens the link, chooses a password and is in the workspace', async ({ page, request }) => {
  const headers = { authorization: `Bearer ${process.env.ATTRACTOR_API_KEY}` };
  const { workspace } = await (await request.get('/v1/me', { headers })).json();
  const invite = async () => {
    const place = `/v1/workspaces/${workspace.id}/invitations`;
    return (await (await request.post(place, { headers, data: { name: 'Ada', role: 'viewer' } })).json()).link;
  };
  const link = await invite();
  await page.goto(link);
  await expect(page.getByRole('heading', { name: 'You are invited' })).toBeVisible();
  await expectAccessible(page, 'join');
  await page.getByLabel('Password').fill('three quiet harbours at dawn');
  await page.keyboard.press('Enter');
  await expect(page.getByLabel('Your question')).toBeVisible();
  await expect(page.getByText(/^Ada · /)).toBeVisible();
  expect(new URL(page.url()).hash).toBe('');
  await page.context().clearCookies();
  await page.goto(link);
  await page.getByLabel('Password').fill('three quiet harbours at dusk');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('alert')).not.toBeEmpty(); // it has been used already
});

test('a stream that is cut goes on where it was, without a word twice', async ({ page }) => {
  await signIn(page);
  const resumed: string[] = [];
  page.on('request', (request) => {
    const last = request.headers()['last-event-id'];
    if (request.url().endsWith('/events') && last) resumed.push(last);
  });
  let cut = '';
  await page.route('**/messages', async (route) => {
    const response = await route.fetch();
    const events = (await response.text()).split('\n\n').slice(0, 7);
    cut = /^id: (.*)$/m.exec(events.at(-1)!)![1]!;
    await route.fulfill({ response, body: `${events.join('\n\n')}\n\n` });
  });
  await ask(page);
  await expect.poll(() => resumed).toEqual([cut]); // the stored answer may be shown earlier
  await expect(page.getByText(/citations? checked/)).toBeVisible();
  await expect(page.getByRole('article')).toHaveAttribute('aria-busy', 'false'); // its last event is there
  const answer = await page.getByRole('article').innerText();
  const quotes = answer.match(/“[^”]+”/g) ?? [];
  expect(quotes.length).toBeGreaterThan(0);
  expect(new Set(quotes).size).toBe(quotes.length);
  await page.unrouteAll({ behavior: 'wait' });
});

test('a run that goes on while the page is reloaded is followed again', async ({ page }) => {
  await signIn(page);
  await ask(page);
  await settled(page); // the stored answer has been loaded
  // Simulates a run in progress: the answer exists, without its text
  let reads = 0;
  await page.route('**/messages?*', async (route) => {
    const response = await route.fetch();
    const body = await response.json();
    if (reads++ === 0) Object.assign(body.items.at(-1), { status: 'running', content: '', citations: [] });
    await route.fulfill({ response, json: body });
  });
  const followed = page.waitForRequest(/\/v1\/runs\/[^/]+\/events$/);
  await page.reload();
  await followed;
  await expect(page.getByText(/citations? checked/)).toBeVisible();
  await expect(page.getByRole('log').getByText(QUESTION, { exact: true })).toHaveCount(1);
  await page.unrouteAll({ behavior: 'wait' });
});

test('a question that is being written is there after a reload, until it is sent', async ({ page }) => {
  await signIn(page);
  const field = page.getByLabel('Your question');
  await field.fill('Who owns the Identity');
  await page.reload();
  await expect(field).toHaveValue('Who owns the Identity');
  await ask(page, 'Who owns the Identity handbook?');
  await page.reload();
  await expect(page.getByRole('article').getByText('Steps')).toBeVisible(); // they are stored with the answer
  await expect(field).toHaveValue('');
  await page.goto('/');
  await expect(field).toHaveValue('');
});

test('a question is edited and answered again; what was there stays within reach', async ({ page }) => {
  await signIn(page);
  await ask(page);
  await page.getByRole('button', { name: 'Edit' }).click();
  const field = page.getByLabel('Edit your question');
  await expect(field).toBeFocused();
  await field.fill('Who owns the Identity handbook?');
  await page.getByRole('button', { name: 'Send' }).first().click();
  const log = page.getByRole('log');
  await expect(log.getByText('Who owns the Identity handbook?', { exact: true })).toBeVisible();
  await expect(log.getByText('2 of 2')).toBeVisible();
  await page.getByRole('button', { name: 'Answer again' }).click();
  await expect(log.getByText('2 of 2')).toHaveCount(2);
  await expect(log.getByText('Who owns the Identity handbook?', { exact: true })).toHaveCount(1);
  await page.getByRole('button', { name: 'Previous version' }).first().click();
  await expect(log.getByText(QUESTION, { exact: true })).toBeVisible();
  await page.reload();
  await expect(log.getByText(QUESTION, { exact: true })).toBeVisible();
  await expect(log.getByText('1 of 2')).toBeVisible();
  await expectAccessible(page, 'branches');
});

test('a conversation is pinned, archived and found by its words', async ({ page }) => {
  await signIn(page);
  await ask(page, 'Which projects depend on AuthService?');
  const menu = page.getByRole('navigation', { name: 'Menu' });
  const entry = menu.getByRole('link', { name: 'Which projects depend on AuthService?' });
  const act = async (action: string) => {
    await menu.getByRole('button', { name: 'Options for Which projects' }).click();
    await page.getByRole('menuitem', { name: action, exact: true }).click();
  };
  await act('Pin');
  await expect(menu.getByRole('listitem').first()).toContainText('★');
  await act('Archive');
  await expect(entry).toHaveCount(0);
  await menu.getByRole('button', { name: 'Archive' }).click();
  await expect(entry).toBeVisible();
  await page.getByRole('link', { name: 'New conversation' }).click();
  await page.getByLabel('Search conversations').fill('projects depend');
  await expectAccessible(page, 'found');
  await menu
    .getByRole('button', { name: /Which projects depend/ })
    .first()
    .click();
  await expect(page.getByRole('log').getByText('Which projects depend on AuthService?', { exact: true })).toBeVisible();
  await page.getByLabel('Search conversations').fill('zebra');
  await expect(menu.getByText('Nothing found.')).toBeVisible();
});

test('by keyboard alone: ask, read the source, come back, rename, delete, sign out', async ({ page }) => {
  await signIn(page);
  await expect(page.getByLabel('Your question')).toBeFocused();
  await page.keyboard.type('What is in the Identity handbook about sessions?');
  await page.keyboard.press('Enter');
  await expect(page.getByText(/citations? checked/)).toBeVisible();
  const chip = page.getByRole('button', { name: /Open source 1/ }).first();
  await chip.focus();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('complementary', { name: 'Source' }).getByRole('heading')).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(chip).toBeFocused();

  const options = page.getByRole('button', { name: 'Options for What is in the Identity handbook about sessions?' });
  await options.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('menuitem', { name: 'Rename' }).focus();
  await page.keyboard.press('Enter');
  const name = page.getByRole('textbox', { name: 'Name' });
  await expect(name).toBeFocused();
  await name.fill('Renamed by keyboard');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { name: 'Renamed by keyboard' })).toBeVisible();

  await page.getByRole('button', { name: 'Options for Renamed by keyboard' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('menuitem', { name: 'Delete' }).focus();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('link', { name: 'Renamed by keyboard' })).toHaveCount(0);
  await expect(page.getByRole('button', { name: 'Undo' })).toBeFocused();
  await page.getByRole('button', { name: 'Sign out' }).focus();
  await page.keyboard.press('Enter');
  await expect(page.getByLabel('API key')).toBeVisible();
});

test.describe('in German', () => {
  test.use({ locale: 'de-DE' });
  test('the page speaks German', async ({ page }) => {
    await page.goto('/');
    await expect(page.getByRole('button', { name: 'Anmelden', exact: true })).toBeVisible();
    await expect(page.locator('html')).toHaveAttribute('lang', 'de');
  });
});

test('an answer that is stopped keeps its words, and is no longer told to be in progress', async ({ page }) => {
  await signIn(page, process.env.MODEL_KEY!);
  await page.getByLabel('Your question').fill('Count to 200');
  await page.keyboard.press('Enter');
  const answer = page.getByRole('article');
  await expect(answer).toContainText('3 4 5');
  await expect(answer.locator('summary').first()).toHaveText('Writing the answer…');
  await page.getByRole('button', { name: 'Stop' }).press('Enter');
  await expect(page.getByText('Stopped.')).toBeVisible();
  await expect(answer.locator('summary').first()).toHaveText('Steps');
  await expect(answer).toContainText('3 4 5');
});
