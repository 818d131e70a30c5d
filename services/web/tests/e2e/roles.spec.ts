import type { Page } from '@playwright/test';
import { expect, keyOf, settled, signIn, test, watched } from './fixtures';

const ROLES = ['viewer', 'editor', 'owner'] as const;
const COMMON = [
  '/',
  '/search?q=token',
  '/graph',
  '/graph?entity=AuthService',
  '/memory',
  '/memory/world',
  '/documents',
];
const PARTS = ['', '/usage', '/settings', '/presets', '/quick-actions', '/keys'].map((part) => `/admin${part}`);
const OF_OWNERS = ['/admin/people', '/admin/limits', '/admin/audit'];

// What the pages need of a service, and what they then must not offer
const AWAY = {
  memory: { routes: ['**/v1/memories**', '**/v1/memories/**', '**/v1/world**'], pages: ['/memory', '/memory/world'] },
  retrieval: { routes: ['**/v1/search'], pages: ['/search?q=token'] },
  'knowledge-graph': { routes: ['**/v1/graph/**'], pages: ['/graph', '/graph?entity=AuthService'] },
  ingestion: { routes: ['**/v1/documents**', '**/v1/documents/**'], pages: ['/documents'] },
  orchestrator: {
    routes: ['**/v1/presets**', '**/v1/quick-actions**', '**/v1/settings**'],
    pages: ['/admin/presets', '/admin/quick-actions', '/admin/settings'],
  },
} as const;
const WRITES = /^(Remember|Edit|Delete|Forget|Export|Add|Clear|Restore|Retry|Cancel|Choose|New preset|New quick)/;

async function shown(page: Page, path: string) {
  await page.goto(path);
  await expect(page.getByRole('main')).toBeVisible();
  await expect(page.getByRole('main')).not.toHaveAttribute('aria-busy');
  await settled(page);
}

for (const role of ROLES)
  test(`no page asks for what the role ${role} may not see, or offers what it may not do`, async ({
    page,
    request,
  }) => {
    const refused: string[] = [];
    page.on('response', (response) => {
      if (response.status() === 403) refused.push(response.url());
    });
    await signIn(page, await keyOf(request, role));
    const main = page.getByRole('main');
    for (const path of [...COMMON, ...PARTS]) await shown(page, path);
    expect(refused).toEqual([]);
    for (const path of OF_OWNERS) {
      await shown(page, path);
      await expect(main.getByText('Page not found.')).toHaveCount(role === 'owner' ? 0 : 1);
    }
    await shown(page, '/documents');
    const mayWrite = role !== 'viewer';
    await expect(main.getByRole('button', { name: 'Choose files' })).toHaveCount(mayWrite ? 1 : 0);
    const row = main.getByRole('listitem').filter({ hasText: 'services.md' });
    await expect(row.getByRole('button', { name: /^Delete/ })).toHaveCount(mayWrite ? 1 : 0);
    await shown(page, '/memory/world');
    await expect(main.getByRole('button', { name: 'Edit: Project' })).toHaveCount(mayWrite ? 1 : 0);
    await shown(page, '/admin/settings');
    await expect(main.getByLabel('Name of a new provider')).toHaveCount(role === 'owner' ? 1 : 0);
    await shown(page, '/admin');
    await expect(main.getByRole('heading', { name: 'Queues' })).toHaveCount(role === 'owner' ? 1 : 0);
    expect(refused).toEqual([]);
  });

test.describe('while a service is away', () => {
  test.use({ expected: /status of 502/ });
  for (const role of ROLES)
    test(`each page says so, and offers nothing that would be refused, to the role ${role}`, async ({
      page,
      context,
      request,
      baseURL,
    }) => {
      await signIn(page, await keyOf(request, role));
      const look = async (service: string, routes: readonly string[], path: string) => {
        const own = await context.newPage();
        const wrong = watched(own, baseURL!, /status of 502/);
        // Simulates the gateway's answer: the stack restarts a service that ends
        const problem = {
          type: 'service-unreachable',
          title: 'A service behind the gateway cannot be reached',
          status: 502,
          detail: `${service} cannot be reached`,
          trace_id: '0af7651916cd43dd8448eb211c80319c',
        };
        // Each visible page would hold a connection, and a browser has six
        await own.route('**/v1/events', (each) => each.fulfill({ status: 404, json: {} }));
        for (const route of routes) await own.route(route, (each) => each.fulfill({ status: 502, json: problem }));
        await own.goto(path);
        const main = own.getByRole('main');
        const said = main.getByText(`${service} cannot be reached (trace 0af7651916cd43dd8448eb211c80319c)`);
        await expect(said, path).toBeVisible(); // once
        await expect(main.getByText('Loading'), path).toHaveCount(0);
        await expect(main.getByRole('button', { name: WRITES }), path).toHaveCount(0);
        expect(wrong).toEqual([]);
        await own.close();
      };
      const looks = Object.entries(AWAY).flatMap(([service, { routes, pages }]) =>
        pages.map((path) => look(service, routes, path)),
      );
      await Promise.all(looks);
    });

  test('a question that cannot be sent stays in its field', async ({ page }) => {
    await signIn(page);
    const problem = {
      type: 'service-unreachable',
      title: 'Away',
      status: 502,
      detail: 'orchestrator cannot be reached',
    };
    await page.route('**/v1/sessions', (route) =>
      route.request().method() === 'POST' ? route.fulfill({ status: 502, json: problem }) : route.continue(),
    );
    const field = page.getByLabel('Your question');
    await field.fill('Who owns the Identity handbook?');
    await page.keyboard.press('Enter');
    await expect(page.getByRole('main').getByRole('alert')).toContainText('orchestrator cannot be reached');
    await expect(field).toHaveValue('Who owns the Identity handbook?');
  });

  test('a change of the world that is refused is told, and what was typed stays', async ({ page }) => {
    await signIn(page);
    await page.goto('/memory/world');
    const problem = { type: 'precondition-failed', title: 'Changed', status: 412, detail: 'the world has changed' };
    await page.route('**/v1/world/operations**', (route) => route.fulfill({ status: 412, json: problem }));
    const goals = page.getByLabel('Add to: Goals');
    await goals.fill('Keep this');
    await goals.press('Enter');
    await expect(page.getByRole('alert').filter({ hasText: 'the world has changed' })).toBeVisible();
    await expect(goals).toHaveValue('Keep this');
    await page.getByRole('button', { name: 'Edit: Summary' }).press('Enter');
    await page.getByLabel('Value').fill('Keep this, too');
    await page.getByRole('button', { name: 'Save' }).press('Enter');
    await expect(page.getByRole('dialog').getByRole('alert')).toContainText('the world has changed');
    await expect(page.getByLabel('Value')).toHaveValue('Keep this, too');
  });
});
