import type { Locator, Page } from '@playwright/test';
import { expect, signIn, test } from './fixtures';
import { expectHarmless, hostile, MARKDOWN, NOT_WRITABLE, SETS } from './hostile';

const MODEL_KEY = process.env.MODEL_KEY!;
const ANSWER = 8_000; // characters; a question may have 10,000

/** Joins the strings, as paragraphs of texts that are as long as a question may be. */
function joined(strings: readonly string[]): string[] {
  const texts = [''];
  const writable = strings.map((text) => text.replace(NOT_WRITABLE, '').trim().slice(0, ANSWER));
  for (const each of writable.filter(Boolean)) {
    if (texts.at(-1)!.length + each.length > ANSWER) texts.push('');
    texts[texts.length - 1] += `${each}\n\n`;
  }
  return texts.map((text) => text.trim());
}

const textOf = (place: Locator) => place.evaluate((element) => element.textContent);

async function answered(page: Page, text: string) {
  await page.goto('/');
  const question = `Write exactly:\n${text}`;
  await page.getByLabel('Your question').fill(question);
  await page.keyboard.press('Enter');
  await expect(page.getByRole('article').getByText(/citations? checked/)).toBeVisible();
  const asked = page.getByRole('log').locator('p').first();
  expect(await textOf(asked)).toBe(await page.evaluate((typed) => typed.trim(), question.replace(/\r\n?/g, '\n')));
  const answer = page.getByRole('article');
  await expect(answer).not.toBeEmpty();
  await expectHarmless(page.getByRole('log'));
}

for (const set of SETS)
  test(`${set} in questions and answers are shown as text`, async ({ page }) => {
    const texts = joined([...hostile(set), ...MARKDOWN]);
    await signIn(page, MODEL_KEY);
    for (const text of texts) await answered(page, text);
  });
