import { expect, test } from '@playwright/test';
import { settled, signIn } from '../e2e/fixtures';
import { exchanges, identifier, openSession, row, taskTimes, watchFrames } from './measuring';

const DELTAS = 4000;
const A_SECOND = 400;

const PARAGRAPH =
  'The **router** sends invoices every Monday to the accounts of the team [1], and waits for the ledger to confirm ' +
  'each of them before it closes the day. What is not confirmed within an hour is sent again, and *listed* for the ' +
  'people on call, who find the reason in `router.log` [2].';
const TABLE = [
  '| service | owner | since |',
  '|---|---|---|',
  ...Array.from({ length: 12 }, (_, n) => `| S${n} | Team ${n} | 20${10 + n} |`),
].join('\n');
const CODE = ['```python', ...Array.from({ length: 14 }, (_, n) => `def step_${n}(x): return x + ${n}`), '```'].join(
  '\n',
);
const LIST = Array.from({ length: 8 }, (_, n) => `- Point ${n}: see [the page](https://example.org/${n})`).join('\n');

/** Markdown of 20,000 characters, of all kinds. */
function longAnswer(): string {
  let text = '';
  for (let n = 0; text.length < 20_000; n++)
    text += `## Part ${n}\n\n${PARAGRAPH}\n\n${n % 3 === 0 ? TABLE : n % 3 === 1 ? CODE : LIST}\n\n${PARAGRAPH}\n\n`;
  return text.slice(0, 20_000);
}

for (const stored of [0, 250])
  test(`a streamed answer after ${2 * stored} messages`, async ({ page, request, browser }) => {
    await signIn(page);
    const answer = longAnswer();
    await page.addInitScript(
      ([text, deltas, rate, run]) => {
        const real = window.fetch;
        const size = Math.ceil(text.length / deltas);
        const encoder = new TextEncoder();
        const event = (id: number, name: string, data: object) =>
          encoder.encode(`id: 1-${id}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
        const stream = () =>
          new ReadableStream<Uint8Array>({
            start(controller) {
              let sent = 0;
              controller.enqueue(event(0, 'run_started', { run_id: run, mode: 'model' }));
              const began = performance.now();
              const timer = setInterval(() => {
                const due = Math.min(deltas, Math.floor(((performance.now() - began) * rate) / 1000));
                for (; sent < due; sent++)
                  controller.enqueue(
                    event(sent + 1, 'message_delta', { text: text.slice(sent * size, (sent + 1) * size) }),
                  );
                if (sent < deltas) return;
                clearInterval(timer);
                const end = { mode: 'model', content: text, citations: [], removed_citations: 0 };
                controller.enqueue(event(deltas + 1, 'run_completed', end));
                controller.close();
              }, 4);
            },
          });
        window.fetch = async (input, init) => {
          if (init?.method !== 'POST' || !String(input).endsWith('/messages')) return await real(input, init);
          const headers = { 'content-type': 'text/event-stream', location: `/v1/runs/${run}` };
          return new Response(stream(), { status: 201, headers });
        };
      },
      [answer, DELTAS, A_SECOND, identifier(900_000)] as const,
    );
    const opening = Date.now();
    await openSession(page, request, (id) =>
      exchanges(id, stored, (n) => `Answer ${n}. ${PARAGRAPH}\n\n${LIST}\n\n${PARAGRAPH}`),
    );
    if (stored) {
      await expect(page.getByText(`Answer ${stored - 1}.`)).toBeVisible();
      row(`session of ${2 * stored} messages, its newest answer seen after`, `${Date.now() - opening} ms`);
    }
    await settled(page);
    await page.waitForTimeout(2000); // whatever the opening left to do
    const stop = await watchFrames(page);
    const cpu = await taskTimes(browser, page, async () => {
      // Neither by role nor by `expect`, which reads the whole page at each look: that is a long task itself
      await page.locator('textarea').fill('Tell me everything');
      await page.keyboard.press('Enter');
      for (const busy of ['true', 'false'])
        await page.waitForFunction(
          (state) => document.querySelector<HTMLElement>('[role=log]')?.dataset.busy === state,
          busy,
          { polling: 100 },
        );
    });
    const { frames, tasks } = await stop();
    const most = Math.max(0, ...tasks).toFixed(0);
    const where = stored ? `, after ${2 * stored} messages` : '';
    row(`20 kB in ${DELTAS} deltas${where}: long tasks over 50 ms`, `${tasks.length}, longest ${most} ms`, 'none');
    row(
      '  tasks over 50 ms of CPU time, which other processes do not prolong',
      `${cpu.filter((each) => each > 50).length}, longest ${Math.max(0, ...cpu).toFixed(0)} ms`,
      'none',
    );
    row(`  frames over 50 ms of all`, `${frames.filter((each) => each > 50).length} of ${frames.length}`);
  });
