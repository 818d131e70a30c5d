import type { Locator, Page } from '@playwright/test';
import { ask, expect, newWorkspace, signIn, test } from './fixtures';

const FAR = 150; // elements

/** Presses Tab until the element has the focus, which must then be seen. */
async function tabTo(page: Page, target: Locator, key = 'Tab') {
  const isThere = () => target.evaluate((element) => element === document.activeElement);
  await expect(target).toBeVisible();
  for (let steps = 0; steps < FAR && !(await isThere()); steps++) await page.keyboard.press(key);
  expect(await isThere(), `reached by ${key}: ${target}`).toBe(true);
  expect(await target.evaluate((element) => element.matches(':focus-visible'))).toBe(true);
}

async function press(page: Page, target: Locator, key = 'Enter') {
  await tabTo(page, target);
  await page.keyboard.press(key);
}

/** Confirms the open dialog, into which the focus has moved and where it stays. */
async function confirm(page: Page, name: string) {
  const dialog = page.getByRole('alertdialog');
  await expect.poll(() => dialog.evaluate((element) => element.contains(document.activeElement))).toBe(true);
  await press(page, dialog.getByRole('button', { name }));
}

const main = (page: Page) => page.getByRole('main');
const menu = (page: Page) => page.getByRole('navigation', { name: 'Menu' });

test('by keyboard alone: a document is sent, found, read in its place and deleted', async ({ page, request }) => {
  await signIn(page, await newWorkspace(request, 'Keyboard'));
  await press(page, menu(page).getByRole('link', { name: 'Documents' }));
  const choosing = page.waitForEvent('filechooser');
  await press(page, main(page).getByRole('button', { name: 'Choose files' }));
  const buffer = Buffer.from('# Lighthouse\n\nThe lighthouse is painted green.\n');
  await (await choosing).setFiles({ name: 'lighthouse.md', mimeType: 'text/markdown', buffer });
  const row = main(page).getByRole('listitem').filter({ hasText: 'lighthouse.md' }).last();
  await expect(row).toContainText('searchable');

  await press(page, menu(page).getByRole('link', { name: 'Search', exact: true }));
  await expect(page.getByLabel('Keywords or a question')).toBeFocused();
  await page.keyboard.type('lighthouse painted');
  await page.keyboard.press('Enter');
  const passage = main(page).locator('ol > li').first().getByRole('button').first();
  await press(page, passage);
  await expect(page.getByRole('complementary', { name: 'Source' }).getByRole('heading')).toBeFocused();
  await expect(page.locator('aside mark')).toContainText('painted green');
  await page.keyboard.press('Escape');
  await expect(passage).toBeFocused();

  await press(page, menu(page).getByRole('link', { name: 'Documents' }));
  await press(page, row.getByRole('button', { name: /^Delete/ }));
  await expect(row).toHaveCount(0);
});

test('by keyboard alone: from an entity to its sentence, and to another entity', async ({ page }) => {
  await signIn(page);
  await press(page, menu(page).getByRole('link', { name: 'Graph', exact: true }));
  await expect(page.getByLabel('Find an entity')).toBeFocused();
  await page.keyboard.type('authserv');
  await press(page, main(page).getByRole('link', { name: 'AuthService', exact: true }));
  await expect(page.getByRole('heading', { name: 'AuthService', exact: true })).toBeVisible();
  const sentence = page.getByRole('button', { name: /Open source \d+: services\.md/ }).first();
  await press(page, sentence);
  await expect(page.getByRole('complementary', { name: 'Source' }).getByRole('heading')).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(sentence).toBeFocused();
  await press(page, page.getByRole('textbox', { name: 'Other entity' }), 'P');
  await page.keyboard.type('rojectBeta');
  await page.keyboard.press('Enter');
  const paths = page.getByRole('region', { name: 'Path from AuthService to another entity' });
  await press(page, paths.locator('ol').getByRole('link', { name: 'ProjectBeta' }).first());
  await expect(page.getByRole('heading', { name: 'ProjectBeta', exact: true })).toBeVisible();
});

test('by keyboard alone: a memory is written and changed, the world, too', async ({ page, request }) => {
  await signIn(page, await newWorkspace(request, 'Keyboard memory'));
  await press(page, menu(page).getByRole('link', { name: 'Memory' }));
  await tabTo(page, page.getByLabel('A note to remember'));
  await page.keyboard.type('The pier is closed.');
  await page.keyboard.press('Enter');
  const note = main(page).getByRole('listitem').filter({ hasText: 'The pier is' });
  await press(page, note.getByRole('button', { name: 'Edit' }));
  await expect(page.getByLabel('Text of the memory')).toBeFocused();
  await page.keyboard.press('Control+a');
  await page.keyboard.type('The pier is open.');
  await press(page, page.getByRole('dialog').getByRole('button', { name: 'Save' }));
  await expect(note).toContainText('The pier is open.');
  await press(page, main(page).getByRole('link', { name: 'World state' }));
  await tabTo(page, page.getByLabel('Add to: Goals'));
  await page.keyboard.type('A calm harbour');
  await page.keyboard.press('Enter');
  const goals = page.getByRole('region', { name: 'Goals' });
  await press(page, goals.getByRole('button', { name: 'Remove: A calm harbour' }));
  await expect(goals.getByRole('listitem')).toHaveCount(0);
});

test('by keyboard alone: memories are forgotten, one and all of a subject', async ({ page, request }) => {
  await signIn(page, await newWorkspace(request, 'Keyboard forgetting'));
  await press(page, menu(page).getByRole('link', { name: 'Memory' }));
  await tabTo(page, page.getByLabel('A note to remember'));
  for (const note of ['The pier is closed.', 'The buoy is red.', 'The mole is long.']) {
    await page.keyboard.type(note);
    await page.keyboard.press('Enter');
    await expect(main(page).getByRole('listitem').filter({ hasText: note })).toBeVisible();
    await expect(page.getByLabel('A note to remember')).toHaveValue('');
    await expect(page.getByLabel('A note to remember')).toBeFocused();
  }
  await press(page, main(page).getByRole('button', { name: 'Forget: The pier is closed.' }));
  const notices = page.getByRole('region', { name: 'Notices' });
  await expect(notices.getByRole('button', { name: 'Undo' })).toBeFocused();
  await press(page, notices.getByRole('button', { name: /^Close/ }));
  await expect(notices.getByText('Nothing of it is left.')).toBeVisible();
  await press(page, notices.getByRole('button', { name: /^Close/ }), 'Space');
  await expect(page.getByRole('heading', { name: 'Memory', level: 1 })).toBeFocused();

  const about = page.getByLabel('Name, keywords or question');
  await tabTo(page, about);
  await page.keyboard.type('buoy');
  const shows = main(page).getByRole('button', { name: 'Preview' });
  await press(page, shows);
  const dialog = page.getByRole('alertdialog');
  await expect(dialog.getByRole('listitem').filter({ hasText: 'The buoy is red.' })).toBeVisible();
  await confirm(page, 'Cancel');
  await expect(shows).toBeFocused();
  await expect(about).toHaveValue('buoy');
  await page.keyboard.press('Enter');
  await expect(dialog.getByRole('listitem').filter({ hasText: 'The buoy is red.' })).toBeVisible();
  await confirm(page, 'Forget');
  await expect(dialog).toContainText('Nothing of it remains in memory.');
  await expect(dialog.getByRole('button', { name: 'Close' })).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(dialog).toHaveCount(0);
  await expect(about).toBeFocused();
  await expect(about).toHaveValue('');
  await expect(main(page).getByRole('listitem')).toHaveText([/The mole is long\./]);
});

test('by keyboard alone: a question is edited and rated, a text written and left', async ({ page }) => {
  await signIn(page);
  await ask(page);
  await press(page, main(page).getByRole('button', { name: 'Edit', exact: true }));
  await expect(page.getByLabel('Edit your question')).toBeFocused();
  await page.keyboard.press('Control+a');
  await page.keyboard.type('Who owns the Identity handbook?');
  await press(page, page.getByRole('log').getByRole('button', { name: 'Send' }));
  await expect(page.getByText(/citations? checked/)).toBeVisible();
  await press(page, main(page).getByRole('button', { name: 'Good answer' }));
  await expect(main(page).getByRole('button', { name: 'Good answer' })).toHaveAttribute('aria-pressed', 'true');

  const artifact = main(page).getByRole('button', { name: 'Artifact', exact: true });
  await tabTo(page, artifact, 'Shift+Tab');
  await page.keyboard.press('Enter');
  const panel = page.getByRole('complementary', { name: 'Artifact' });
  await press(page, panel.getByRole('button', { name: 'Start a text' }));
  const editor = panel.getByRole('textbox', { name: 'Text of the artifact' });
  await tabTo(page, editor);
  await page.keyboard.type('It is calm.');
  await page.keyboard.press('Control+s');
  await expect(panel.getByText('saved', { exact: true })).toBeVisible();
  await page.keyboard.press('Shift+Tab');
  await expect(editor).not.toBeFocused();
  await tabTo(page, panel.getByRole('button', { name: 'Versions' }), 'Shift+Tab');
  await page.keyboard.press('Space');
  await expect(panel.getByRole('listitem').first()).toContainText('current');
  await tabTo(page, panel.getByRole('button', { name: 'Close' }), 'Shift+Tab');
  await page.keyboard.press('Enter');
  await expect(artifact).toBeFocused();
});

test('by keyboard alone: a key is made and revoked, the language changed, the menu of a phone used', async ({
  page,
}) => {
  await signIn(page);
  await press(page, menu(page).getByRole('link', { name: 'Administration' }));
  await press(page, main(page).getByRole('link', { name: 'Keys' }));
  await tabTo(page, page.getByLabel(/^Name of a new key/));
  const name = `by keyboard ${crypto.randomUUID().slice(0, 8)}`;
  await page.keyboard.type(name);
  await page.keyboard.press('Enter');
  await press(page, main(page).getByRole('button', { name: `Revoke: ${name}` }));
  await confirm(page, 'Revoke');
  await expect(main(page).getByRole('listitem').filter({ hasText: name })).toContainText('revoked');

  await page.setViewportSize({ width: 360, height: 740 });
  await page.goto('/admin/settings');
  await tabTo(page, page.getByLabel('Interface language'));
  await page.keyboard.type('D');
  await expect(page.getByRole('heading', { name: 'In diesem Browser' })).toBeVisible();
  await page.goto('/');
  const fold = page.getByRole('button', { name: 'Menü' });
  await tabTo(page, fold, 'Shift+Tab');
  await page.keyboard.press('Enter');
  await expect(fold).toHaveAttribute('aria-expanded', 'true');
  await press(page, page.getByRole('link', { name: 'Dokumente' }));
  await expect(page.getByRole('heading', { name: 'Dokumente', level: 1 })).toBeVisible();
  await expect(fold).toHaveAttribute('aria-expanded', 'false');
});
