import { readFile } from 'node:fs/promises';
import type { APIRequestContext, Page } from '@playwright/test';
import { expect, expectAccessible, signIn, test } from './fixtures';

// Ten by ten red pixels
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAYAAACNMs+9AAAAFUlEQVR42mP8z8BQz0AEYBxVSF+FABJADveWkH6oAAAAAElFTkSuQmCC';
const headers = () => ({ authorization: `Bearer ${process.env.ATTRACTOR_API_KEY}` });
const TEXT = '# Outage\r\n\r\nUserDB \u{1F600} was away.\tTwice.\r\n\r\n- [ ] tell **everyone**';

async function session(request: APIRequestContext, text?: string): Promise<string> {
  const { id } = await (await request.post('/v1/sessions', { headers: headers(), data: {} })).json();
  if (text !== undefined) await put(request, id, text);
  return id;
}

const put = (request: APIRequestContext, id: string, text: string, more: object = {}) =>
  request.put(`/v1/sessions/${id}/artifact`, { headers: headers(), data: { text, title: 'Report', ...more } });

const stored = async (request: APIRequestContext, id: string) =>
  (await (await request.get(`/v1/sessions/${id}/artifact`, { headers: headers() })).json()) as {
    text: string;
    index: number;
  };

const editor = (page: Page) => page.getByRole('textbox', { name: 'Text of the artifact' });

test('an artifact opens with its session, and stays closed once it is closed', async ({ page, request }) => {
  await signIn(page);
  const id = await session(request, 'It is calm.');
  await page.goto(`/c/${id}`);
  await expect(editor(page)).toContainText('It is calm.');
  await page.getByRole('complementary', { name: 'Artifact' }).getByRole('button', { name: 'Close' }).click();
  await expect(editor(page)).toHaveCount(0);
  await page.getByRole('button', { name: 'Artifact', exact: true }).click();
  await expect(editor(page)).toContainText('It is calm.');
  await page.setViewportSize({ width: 600, height: 800 });
  await page.goto(`/c/${id}`);
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  await expect(editor(page)).toHaveCount(0); // it would cover the conversation
});

test('a text is begun by hand, saved by itself, seen as it will look, and undone', async ({ page, request }) => {
  await signIn(page);
  const id = await session(request);
  await page.goto(`/c/${id}`);
  await page.getByRole('button', { name: 'Artifact', exact: true }).click();
  await expect(page.getByText('has no artifact yet')).toBeVisible();
  await expectAccessible(page, 'artifact-none');
  await page.getByRole('button', { name: 'Start a text' }).press('Enter');
  await editor(page).focus();
  await page.keyboard.type('# Harbour');
  await page.keyboard.press('Enter');
  await page.keyboard.type('It is calm.');
  await expect(page.getByText('saved', { exact: true })).toBeVisible();
  await expect(async () => expect((await stored(request, id)).text).toBe('# Harbour\nIt is calm.')).toPass();
  await page.getByRole('button', { name: 'Preview' }).click();
  await expect(page.getByRole('heading', { name: 'Harbour' })).toBeVisible();
  await expectAccessible(page, 'artifact-preview');
  await page.getByRole('button', { name: 'Undo' }).press('Enter');
  await page.getByRole('button', { name: 'Write', exact: true }).click();
  await expect(editor(page)).toHaveText('');
  await page.getByRole('button', { name: 'Redo' }).press('Enter');
  await expect(editor(page)).toContainText('It is calm.');

  await page.getByRole('button', { name: 'Rename', exact: true }).press('Enter');
  await page.getByRole('textbox', { name: 'Name' }).fill('Calm harbour');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { name: 'Calm harbour' })).toBeVisible();
  await page.getByRole('button', { name: 'Make searchable' }).press('Enter');
  await expect(page.getByRole('link', { name: /version \d+ is a document/ })).toBeVisible();

  // No model is configured here, so nothing is offered that needs one
  await expect(page.getByRole('button', { name: 'Rewrite' })).toHaveCount(0);
  const download = page.waitForEvent('download');
  const button = page.getByRole('complementary', { name: 'Artifact' }).getByRole('button', { name: 'Export' });
  await button.press('Enter');
  await expect(page.getByRole('menuitem')).toHaveText(['Markdown', 'HTML', 'Word (DOCX)', 'PDF', 'unchanged text']);
  await expectAccessible(page, 'artifact-export');
  await page.getByRole('menuitem', { name: 'Markdown' }).press('Enter');
  const file = await download;
  expect(file.suggestedFilename()).toMatch(/\.md$/);
  expect(await readFile(await file.path(), 'utf8')).toContain('It is calm.');
});

test('by keyboard alone, a change leaves every other byte and is there after a reload', async ({ page, request }) => {
  await signIn(page);
  const id = await session(request, TEXT);
  await page.goto(`/c/${id}?artifact=current`);
  await editor(page).focus();
  await page.keyboard.press('Control+Home');
  await page.keyboard.press('End');
  await page.keyboard.type(' of UserDB');
  await page.keyboard.press('Control+s');
  await expect(page.getByText('saved', { exact: true })).toBeVisible();
  await expect(async () =>
    expect((await stored(request, id)).text).toBe(TEXT.replace('# Outage', '# Outage of UserDB')),
  ).toPass();
  await expectAccessible(page, 'artifact-write');
  await page.reload();
  await expect(editor(page)).toContainText('# Outage of UserDB');
  await page.keyboard.press('Tab'); // keyboard users can leave the text
});

test('two write at once: both are shown, merged or chosen, and no word is lost', async ({ page, request }) => {
  await signIn(page);
  const id = await session(request, 'first\nsecond\nthird\n');
  await page.goto(`/c/${id}?artifact=current`);
  await editor(page).focus();
  await put(request, id, 'first\nsecond\nthird, theirs\n');
  await page.keyboard.press('Control+Home');
  await page.keyboard.type('mine ');
  await page.keyboard.press('Control+s');
  await expect(page.getByText('Somebody else has changed the text in the meantime.')).toBeVisible();
  await expect(editor(page)).toContainText('mine first');
  await expect(page.locator('.cm-deletedChunk').filter({ hasText: 'third, theirs' })).toBeVisible();
  await expectAccessible(page, 'artifact-conflict');
  expect((await stored(request, id)).text).toBe('first\nsecond\nthird, theirs\n');
  await page.reload(); // the conflict is still there, unresolved
  await expect(page.getByText('Somebody else has changed the text in the meantime.')).toBeVisible();
  await page.getByRole('button', { name: 'Take theirs', exact: true }).last().click();
  await page.getByRole('button', { name: 'Save merged text' }).click();
  await expect(async () => expect((await stored(request, id)).text).toMatch(/theirs/)).toPass();
  await expect(page.getByText('saved', { exact: true })).toBeVisible();
});

test('what is typed while a save is refused is in the conflict, too', async ({ page, request }) => {
  await signIn(page);
  const id = await session(request, 'first\n');
  await page.goto(`/c/${id}?artifact=current`);
  await editor(page).focus();
  let goOn = () => {};
  const isTyped = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  await page.route('**/artifact', async (route) => {
    if (route.request().method() === 'PUT') await isTyped;
    await route.continue();
  });
  await put(request, id, 'first, theirs\n');
  const sent = page.waitForRequest((each) => each.method() === 'PUT');
  await page.keyboard.press('Control+End');
  await page.keyboard.type('mine');
  await page.keyboard.press('Control+s');
  await sent;
  await page.keyboard.type(' and more');
  goOn();
  await expect(page.getByText('Somebody else has changed the text in the meantime.')).toBeVisible();
  await expect(editor(page)).toContainText('mine and more');
  await editor(page).focus();
  await page.keyboard.press('Control+End');
  await page.keyboard.type(' than that');
  await page.reload();
  await expect(editor(page)).toContainText('mine and more than that');
  await page.getByRole('button', { name: 'Save merged text' }).click();
  await expect(async () => expect((await stored(request, id)).text).toContain('mine and more than that')).toPass();
  await page.unrouteAll({ behavior: 'wait' });
});

test('versions are listed, opened, compared and restored', async ({ page, request }) => {
  await signIn(page);
  const id = await session(request, 'The harbour is calm.\n');
  await put(request, id, 'The harbour is loud.\n');
  await put(request, id, 'The harbour is loud.\nIt is late.\n');
  await page.goto(`/c/${id}?artifact=current`);
  await page.getByRole('button', { name: 'Versions' }).click();
  const rows = page.getByRole('complementary', { name: 'Artifact' }).getByRole('listitem');
  await expect(rows).toHaveCount(3);
  await expect(rows.first()).toContainText('current');
  await page.getByLabel('Compare from').selectOption('1');
  const comparison = page.getByRole('textbox', { name: 'Version 3, compared with version 1' });
  await expect(comparison).toContainText('It is late.');
  await expect(page.locator('.cm-deletedText').first()).toHaveText('calm');
  await expectAccessible(page, 'artifact-versions');
  await page.getByRole('button', { name: 'Open: version 1' }).press('Enter');
  await expect(page.getByRole('textbox', { name: 'Version 1' })).toContainText('calm');
  await expect(page).toHaveURL(/[?&]artifact=1\b/);
  await page.getByRole('button', { name: 'Restore' }).press('Enter');
  await expect(async () =>
    expect(await stored(request, id)).toMatchObject({ text: 'The harbour is calm.\n', index: 4 }),
  ).toPass();
});

test('images are chosen, pasted and dropped, taken away, refused in words, and shown with the question', async ({
  page,
}) => {
  // Simulates a model, without which images are not offered
  await page.route('**/v1/models', async (route) => {
    const response = await route.fetch();
    const models = await response.json();
    models.data.push({ ...models.data[0], id: 'attractor-plain' });
    await route.fulfill({ response, json: models });
  });
  await signIn(page);
  await expect(page.getByRole('button', { name: 'Add an image' })).toBeVisible();
  const buffer = Buffer.from(PNG, 'base64');
  await page.locator('input[type=file]').setInputFiles({ name: 'red.png', mimeType: 'image/png', buffer });
  const question = page.getByLabel('Your question');
  const held = async (name: string, type: string) =>
    await page.evaluateHandle(
      ([data, name, type]) => {
        const transfer = new DataTransfer();
        transfer.items.add(
          new File([Uint8Array.from(atob(data!), (letter) => letter.charCodeAt(0))], name!, { type: type! }),
        );
        return transfer;
      },
      [PNG, name, type],
    );
  await question.evaluate(
    (field, clipboardData) => field.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true })),
    await held('twice.png', 'image/png'),
  );
  await expect(page.getByRole('img', { name: 'twice.png' })).toBeVisible();
  await question.dispatchEvent('drop', { dataTransfer: await held('plan.pdf', 'application/pdf') });
  await expect(page.getByText('“plan.pdf” is not an image')).toBeVisible();
  await page.getByRole('button', { name: 'Remove: twice.png' }).press('Enter');
  await expect(page.getByRole('img', { name: 'twice.png' })).toHaveCount(0);
  await expect(question).toBeFocused();
  await question.fill('What is to be seen?');
  await expectAccessible(page, 'images');
  await page.keyboard.press('Enter');
  const shown = page.getByRole('log').getByRole('button', { name: 'Enlarge: red.png' });
  await expect(shown).toBeVisible();
  await expect(page.getByRole('button', { name: 'Edit', exact: true })).toBeVisible(); // the question is stored
  await shown.press('Enter');
  await expect(page.getByRole('dialog', { name: 'red.png' })).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(shown).toBeFocused();
});

test('selected text and themes are asked with the places that the API counts', async ({ page, request }) => {
  // Simulates a model, without which neither is offered
  await page.route('**/v1/models', async (route) => {
    const response = await route.fetch();
    const models = await response.json();
    models.data.push({ ...models.data[0], id: 'attractor-plain' });
    await route.fulfill({ response, json: models });
  });
  await signIn(page);
  const id = await session(request, '\u{1F600} old\r\nharbour\r\n');
  await request.post('/v1/quick-actions', { headers: headers(), data: { name: 'As a poem', prompt: 'Write a poem.' } });
  await page.goto(`/c/${id}?artifact=current`);
  await editor(page).focus();
  await page.keyboard.press('Control+End');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Shift+End');
  await page.getByLabel('How should the selected text change?').fill('Name the harbour');
  await expectAccessible(page, 'artifact-selected');
  const asked = page.waitForRequest((each) => each.method() === 'POST' && each.url().endsWith('/messages'));
  await page.keyboard.press('Enter');
  expect((await asked).postDataJSON()).toMatchObject({
    content: 'Name the harbour',
    highlight: { version: 1, start: 7, end: 14, text: 'harbour' },
  });
  await expect(page.getByRole('log')).toContainText('Name the harbour');
  const rewrite = page.getByRole('button', { name: 'Rewrite' });
  await expect(rewrite).toBeEnabled();
  await rewrite.press('Enter');
  await expect(page.getByRole('menuitem', { name: 'As a poem' }).first()).toBeVisible();
  await expectAccessible(page, 'artifact-rewrite');
  const themed = page.waitForRequest((each) => each.method() === 'POST' && each.url().endsWith('/messages'));
  await page.getByRole('menuitem', { name: 'shorter', exact: true }).click();
  expect((await themed).postDataJSON()).toMatchObject({ theme: { artifact_length: 'short' } });
});

test('code has its language, and everything is said in German', async ({ browser, baseURL, request }) => {
  const id = await session(request);
  await put(request, id, 'def calm():\n\treturn True', { kind: 'code', language: 'python' });
  const context = await browser.newContext({ locale: 'de-DE', ...(baseURL ? { baseURL } : {}) });
  const page = await context.newPage();
  await page.goto('/');
  await page.getByLabel('API-Schlüssel').fill(process.env.ATTRACTOR_API_KEY!);
  await page.keyboard.press('Enter');
  await expect(page.getByLabel('Deine Frage')).toBeVisible();
  await page.goto(`/c/${id}?artifact=current`);
  await expect(page.getByRole('textbox', { name: 'Text des Artefakts' })).toContainText('def calm()');
  await expect(page.locator('.cm-line span').first()).toHaveText('def');
  await expect(page.getByRole('button', { name: 'Vorschau' })).toHaveCount(0);
  await expectAccessible(page, 'artifact-code');
  await context.close();
});

test('what a run writes of the artifact is seen as it streams', async ({ page, request }) => {
  await signIn(page);
  const id = await session(request, 'old\n');
  await page.goto(`/c/${id}`);
  let goOn = () => {};
  const isSeen = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  // Simulates a model's run: the stream pauses while the text is being written
  await page.route('**/messages', async (route) => {
    const response = await route.fetch();
    const first = (await response.text()).split('\n\n')[0]!;
    const last = /^id: (.*)$/m.exec(first)![1];
    const event = (name: string, data: object) => `id: ${last}\nevent: ${name}\ndata: ${JSON.stringify(data)}`;
    const written = ['# New ', 'harbour'].map((text) => event('artifact_delta', { text }));
    const started = event('artifact_started', { action: 'rewrite_artifact' });
    await route.fulfill({ response, body: `${[first, started, ...written].join('\n\n')}\n\n` });
  });
  await page.route('**/v1/runs/*/events', async (route) => {
    await isSeen;
    await route.continue();
  });
  await page.getByLabel('Your question').fill('How long is a refresh token valid?');
  await page.keyboard.press('Enter');
  const written = page.getByRole('region', { name: 'The assistant is writing…' });
  await expect(written).toContainText('# New harbour'); // the panel opened automatically
  await expect(page.getByLabel('Your question')).toBeFocused();
  await expect(editor(page)).toContainText('old');
  await expectAccessible(page, 'artifact-streamed');
  goOn();
  await expect(written).toHaveCount(0);
  await page.unrouteAll({ behavior: 'wait' });
});
