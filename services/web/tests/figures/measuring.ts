import { appendFileSync, readFileSync } from 'node:fs';
import { type APIRequestContext, type Browser, expect, type Page } from '@playwright/test';
import type { Schemas } from '../../src/api/client';

/** Adds a row of the table. */
export const row = (name: string, measured: string, aim = '') =>
  appendFileSync(process.env.FIGURES!, `${JSON.stringify([name, measured, aim])}\n`);

/** The percentile by the nearest-rank method, as in figures.py. */
export const percentile = (values: readonly number[], share: number): number => {
  const ordered = [...values].sort((a, b) => a - b);
  return ordered[Math.min(ordered.length - 1, Math.floor(share * ordered.length))]!;
};

export const spread = (milliseconds: readonly number[]) =>
  `p50 ${percentile(milliseconds, 0.5).toFixed(0)} ms, p95 ${percentile(milliseconds, 0.95).toFixed(0)} ms`;

/** A passage that was chosen as a citation's quote, in a document that was ingested. */
export interface Chosen {
  kind: string;
  document_id: string;
  document_name: string;
  chunk_id: string;
  quote: string;
  start: number;
  end: number;
  page: number | null;
}

export const chosen = (): Chosen[] => JSON.parse(readFileSync(process.env.QUOTES!, 'utf8'));

/** Returns stored messages with the given number of answers, as the API lists them. */
export const exchanges = (sessionId: string, count: number, text: (index: number) => string): Schemas['Message'][] =>
  Array.from({ length: 2 * count }, (_, index) => ({
    id: identifier(index),
    session_id: sessionId,
    parent_id: index ? identifier(index - 1) : null,
    run_id: identifier(100_000 + (index >> 1)),
    role: index % 2 ? 'assistant' : 'user',
    status: 'completed',
    mode: index % 2 ? 'model' : null,
    content: index % 2 ? text(index >> 1) : `Question ${index >> 1}: what is known about it?`,
    citations: [],
    created_at: '2026-11-26T09:00:00Z',
    siblings: null,
  })) as unknown as Schemas['Message'][];

export const identifier = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;

/** Opens a new session whose messages are the given ones. */
export async function openSession(
  page: Page,
  request: APIRequestContext,
  messages: (sessionId: string) => Schemas['Message'][],
  address = '',
): Promise<string> {
  const headers = { authorization: `Bearer ${process.env.ATTRACTOR_API_KEY}` };
  const { id } = await (await request.post('/v1/sessions', { headers, data: { title: 'Measured' } })).json();
  const items = messages(id);
  await page.route('**/messages?*', (route) => route.fulfill({ json: { items, next_cursor: null } }));
  await page.goto(`/c/${id}${address}`);
  await expect(page.getByRole('heading', { name: 'Measured' })).toBeVisible();
  return id;
}

/** Collects the times between frames and the long tasks until `stop`; both in milliseconds. */
export async function watchFrames(page: Page): Promise<() => Promise<{ frames: number[]; tasks: number[] }>> {
  await page.evaluate(() => {
    const watched = { frames: [] as number[], tasks: [] as number[], running: true };
    Object.assign(window, { watched });
    new PerformanceObserver((list) => {
      if (watched.running) watched.tasks.push(...list.getEntries().map(({ duration }) => duration));
    }).observe({ type: 'longtask' });
    let before = performance.now();
    const frame = (now: number) => {
      watched.frames.push(now - before);
      before = now;
      if (watched.running) requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  });
  return () =>
    page.evaluate(() => {
      const { watched } = window as unknown as { watched: { frames: number[]; tasks: number[]; running: boolean } };
      watched.running = false;
      return { frames: watched.frames.slice(1), tasks: watched.tasks };
    });
}

/**
 * Traces the page's main thread until the end of `act`; returns the CPU time of its tasks in milliseconds. Unlike their
 * duration it does not grow when other processes have the processor.
 */
export async function taskTimes(browser: Browser, page: Page, act: () => Promise<void>): Promise<number[]> {
  await browser.startTracing(page, { categories: ['toplevel'] });
  await act();
  const { traceEvents: events } = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] };
  const threads = events.filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain');
  const isMain = ({ pid, tid }: TraceEvent) => threads.some((thread) => thread.pid === pid && thread.tid === tid);
  return events.filter((event) => event.name.endsWith('RunTask') && isMain(event)).map(({ tdur = 0 }) => tdur / 1000);
}

interface TraceEvent {
  name: string;
  pid: number;
  tid: number;
  /** Microseconds of CPU time. */
  tdur?: number;
  args?: { name?: string };
}
