import { writeFileSync } from 'node:fs';
import { expect, type Page, test } from '@playwright/test';
import type { Schemas } from '../../src/api/client';
import { signIn } from '../e2e/fixtures';
import { type Chosen, chosen, exchanges, openSession, row, spread } from './measuring';

const LONG = 'long';

/** An answer that cites all of the quotes. */
function citing(sessionId: string, quotes: readonly Chosen[]): Schemas['Message'][] {
  const messages = exchanges(sessionId, 1, () => quotes.map((_, n) => `Sentence ${n} [${n + 1}].`).join(' '));
  messages[1]!.citations = quotes.map(({ kind: _, ...quote }, n) => ({
    ...quote,
    number: n + 1,
    document_title: null,
    section: null,
    line_start: null,
    line_end: null,
  }));
  return messages;
}

/** Presses the citation; returns the milliseconds until its words are marked, and until the page is drawn. */
async function press(page: Page, number: number, quote: string) {
  await page.evaluate(
    ([chip, words]) => {
      const began = { press: 0, marked: 0, drawn: 0 };
      Object.assign(window, { began });
      const button = document.querySelector(`[data-citation="${chip}"]`)!;
      button.addEventListener('pointerdown', () => (began.press = performance.now()), { once: true });
      const look = () => {
        const canvas = document.querySelector('canvas[aria-label]');
        const shown = canvas?.getAttribute('aria-label')?.endsWith(words);
        const done = document.querySelector('[data-testid=word]') ?? document.querySelector('[data-located=false]');
        if (began.press && shown && done && !began.marked) began.marked = performance.now();
        if (began.marked && canvas?.hasAttribute('data-drawn')) began.drawn = performance.now();
        else requestAnimationFrame(look);
      };
      requestAnimationFrame(look);
    },
    [String(number), quote] as const,
  );
  await page.locator(`[data-citation="${number}"]`).first().click();
  await page.waitForFunction(() => (window as unknown as { began: { drawn: number } }).began.drawn > 0);
  return await page.evaluate(() => {
    const { began } = window as unknown as { began: { press: number; marked: number; drawn: number } };
    return { marked: began.marked - began.press, drawn: began.drawn - began.press };
  });
}

/** Returns the shown page and the places of frame and words on it, as shares of its size. */
const places = (page: Page) =>
  page.evaluate(() => {
    const canvas = document.querySelector<HTMLCanvasElement>('canvas[aria-label]')!;
    const sheet = canvas.parentElement!.getBoundingClientRect();
    const of = (name: string) =>
      [...document.querySelectorAll(`[data-testid=${name}]`)].map((element) => {
        const { left, top, right, bottom } = element.getBoundingClientRect();
        const x = (value: number) => (value - sheet.left) / sheet.width;
        const y = (value: number) => (value - sheet.top) / sheet.height;
        return [x(left), y(top), x(right), y(bottom)];
      });
    const page = Number(/\d+/.exec(canvas.getAttribute('aria-label')!)![0]);
    return { page, frames: of('frame'), words: of('word') };
  });

test('citations of a long PDF', async ({ page, request }) => {
  const quotes = chosen().filter(({ kind }) => kind === LONG);
  await signIn(page);
  await openSession(page, request, (id) => citing(id, quotes));
  const took = [];
  for (const [index, { quote }] of quotes.entries()) took.push(await press(page, index + 1, quote));
  const marked = took.map((each) => each.marked);
  row(`citation pressed to words marked, 200 pages (${took.length} citations)`, spread(marked), 'p95 400 ms');
  row('  the first one, which loads viewer and PDF', `${marked[0]!.toFixed(0)} ms`);
  row('  until the page is drawn too', spread(took.map((each) => each.drawn)));
});

test('quotes on their pages', async ({ page, request }) => {
  const quotes = chosen().filter(({ kind }) => kind !== LONG);
  await signIn(page);
  await openSession(page, request, (id) => citing(id, quotes));
  const found = [];
  for (const [index, quote] of quotes.entries()) {
    await press(page, index + 1, quote.quote);
    found.push({ ...quote, ...(await places(page)) });
  }
  writeFileSync(process.env.MARKS!, JSON.stringify(found));
  expect(found).toHaveLength(quotes.length);
});
