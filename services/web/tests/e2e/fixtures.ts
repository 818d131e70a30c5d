import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type APIRequestContext, test as base, expect, type Page, type Request } from '@playwright/test';
import type { RunOnly } from 'axe-core';
import type { Schemas } from '../../src/api/client';

export const QUESTION = 'How long is a refresh token valid?';

// Not signed in, used link, refused file, edit conflict; a connection that a test cuts, or a new network of the machine.
const EXPECTED = /status of (401|404|409|412|422)|net::ERR_(CONNECTION_RESET|NETWORK_CHANGED)/;

interface Traffic {
  open: Set<Request>;
  last: number;
}

const traffic = new WeakMap<Page, Traffic>();

/** Follows the page's requests, but for the stream of changes, which never ends. */
function trafficOf(page: Page): Traffic {
  const known = traffic.get(page);
  if (known) return known;
  const made: Traffic = { open: new Set(), last: Date.now() };
  const ended = (request: Request) => {
    made.open.delete(request);
    made.last = Date.now();
  };
  page.on('request', (request) => !request.url().endsWith('/v1/events') && made.open.add(request));
  page.on('requestfinished', ended);
  page.on('requestfailed', ended);
  traffic.set(page, made);
  return made;
}

/** Hides or shows the tab. Simulated, because all tabs of a browser without a screen are seen. */
export const tab = (page: Page, state: DocumentVisibilityState) =>
  page.evaluate((visibilityState) => {
    Object.defineProperty(document, 'visibilityState', { value: visibilityState, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  }, state);

/** Waits until the page, which has signed in by `signIn` or is a test's own, has had no request for half a second. */
export async function settled(page: Page) {
  const { open } = trafficOf(page);
  const idle = () => (open.size ? 0 : Date.now() - trafficOf(page).last);
  await expect.poll(idle, { intervals: [100], timeout: 60_000 }).toBeGreaterThan(500);
}

/** Notes any error of the page, refused policy, request to another host, dialog and new window. */
export function watched(page: Page, baseURL: string, expected: RegExp | undefined): string[] {
  const wrong: string[] = [];
  trafficOf(page);
  page.on('pageerror', (error) => wrong.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' && !EXPECTED.test(message.text()) && !expected?.test(message.text()))
      wrong.push(message.text());
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(baseURL) && !request.url().startsWith('blob:')) wrong.push(request.url());
  });
  page.on('dialog', (dialog) => {
    wrong.push(`${dialog.type()}: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('popup', (opened) => wrong.push(`opened ${opened.url()}`));
  return wrong;
}

/** A page that fails the test on whatever is `watched`, except for the errors that the test expects. */
export const test = base.extend<{ page: Page; expected: RegExp | undefined }>({
  expected: [undefined, { option: true }],
  // A connection of its own for each request: the server ends idle ones, perhaps as the next request is sent
  request: async ({ playwright, baseURL }, use) => {
    const extraHTTPHeaders = { connection: 'close' };
    const context = await playwright.request.newContext({ ...(baseURL ? { baseURL } : {}), extraHTTPHeaders });
    await use(context);
    await context.dispose();
  },
  page: async ({ page, baseURL, expected }, use) => {
    const wrong = watched(page, baseURL!, expected);
    await use(page);
    expect(wrong).toEqual([]);
  },
});

export async function signIn(page: Page, key = process.env.ATTRACTOR_API_KEY!) {
  trafficOf(page);
  await page.goto('/');
  await page.getByLabel('API key').fill(key);
  await page.keyboard.press('Enter');
  await expect(page.getByLabel('Your question')).toBeVisible();
}

export const bearer = (key = process.env.ATTRACTOR_API_KEY!) => ({ authorization: `Bearer ${key}` });

/** Creates a key of the role in the workspace of the tests; returns it. */
export async function keyOf(request: APIRequestContext, role: Schemas['Role']): Promise<string> {
  const headers = bearer();
  const { workspace } = await (await request.get('/v1/me', { headers })).json();
  const data = { name: `reads as ${role}`, role };
  return (await (await request.post(`/v1/workspaces/${workspace.id}/keys`, { headers, data })).json()).key;
}

/** Creates a workspace with an owner of its own; returns the owner's key. */
export async function newWorkspace(request: APIRequestContext, name: string): Promise<string> {
  const headers = bearer();
  const { id } = await (await request.post('/v1/workspaces', { headers, data: { name } })).json();
  const place = `/v1/workspaces/${id}/invitations`;
  const { token } = await (await request.post(place, { headers, data: { role: 'owner' } })).json();
  const joined = await request.post('/v1/invitations/accept', { data: { token, name: `Owner of ${name}` } });
  return (await joined.json()).key.key;
}

/** Signs in with a new viewer key; returns the headers for API requests with that key. */
export async function signInAsViewer(page: Page, request: APIRequestContext): Promise<{ authorization: string }> {
  const key = await keyOf(request, 'viewer');
  await signIn(page, key);
  return bearer(key);
}

/** Asks on the front page, and waits for the whole answer. */
export async function ask(page: Page, question = QUESTION) {
  await page.getByLabel('Your question').fill(question);
  await page.keyboard.press('Enter');
  await expect(page.getByText(/citations? checked/)).toBeVisible();
}

const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
// Rules that depend on colours and width; the others are checked once, because they are equal in every scheme
const OF_LOOKS = ['color-contrast', 'link-in-text-block', 'target-size', 'scrollable-region-focusable'];
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Returns axe's violations on the page. */
export async function violations(page: Page, runOnly: RunOnly = { type: 'tag', values: TAGS }): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(AXE);
  return await page.evaluate(async (only) => {
    const { axe } = window as unknown as { axe: typeof import('axe-core') };
    const found = await axe.run(document, { runOnly: only, resultTypes: ['violations'] });
    return found.violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' ')}`);
  }, runOnly);
}

/**
 * Expects no axe violation in both schemes at 360 and 1,280 pixels, and nothing wider than the screen, even at 200 % and
 * 400 % of 1,280 pixels, where elements with the height of the screen must still leave room to read.
 */
export async function expectAccessible(page: Page, name: string) {
  for (const colorScheme of ['dark', 'light'] as const) {
    for (const [width, height] of [PHONE, [1280, 800] as const]) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height });
      const only: RunOnly =
        colorScheme === 'light' ? { type: 'rule', values: OF_LOOKS } : { type: 'tag', values: TAGS };
      const message = `${name}, ${colorScheme}, ${width}`;
      await expect.poll(() => violations(page, only), { message }).toEqual([]); // once what moves has come to rest
      await expectNarrowEnough(page, `${name}, ${width}`);
      if (process.env.SHOTS)
        await page.screenshot({ path: `${process.env.SHOTS}/${name}-${colorScheme}-${width}.png` });
    }
  }
  await expectToFit(page, name, ZOOMED);
}

/** Expects nothing wider than the screen on a phone, and at 200 % and 400 % of 1,280 pixels. */
export async function expectToFit(page: Page, name: string, sizes: readonly Size[] = [PHONE, ...ZOOMED]) {
  for (const [width, height] of sizes) {
    await page.setViewportSize({ width, height });
    await expectNarrowEnough(page, `${name}, ${width}`);
  }
  await page.setViewportSize({ width: 1280, height: 800 });
}

type Size = readonly [width: number, height: number];
const PHONE = [360, 740] as const;
const ZOOMED = [
  [640, 400],
  [320, 256],
] as const;
const isTooWide = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth > innerWidth);

/** An open menu moves to its new position a moment after the window is resized. */
const expectNarrowEnough = (page: Page, message: string) => expect.poll(() => isTooWide(page), { message }).toBe(false);

export { expect };
