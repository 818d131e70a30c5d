// Strings that are hostile to whoever shows them, and what holds where they are shown.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator } from '@playwright/test';
import { expect, test } from './fixtures';

export const SETS = ['naughty-strings', 'injection-bipia'] as const;
export const NOT_WRITABLE = /[^\P{C}\p{Cf}\n]/gu; // control characters and halves of characters, which no field sends
// Elements that no page has by itself; its own drawings are hidden from screen readers, its own forms have a class
const FOREIGN =
  'img, script, iframe, style, object, embed, base, meta, link, svg:not([aria-hidden]), form:not([class])';
export const MARKDOWN = [
  '![picture](https://evil.example/a.png) [![nested](//evil.example/b.png)](https://evil.example)',
  '<img src=https://evil.example/c.png onerror=alert(1)><script>alert(2)</script><iframe src=//evil.example></iframe>',
  '[press](javascript:alert(3)) [data](data:text/html,<script>alert(4)</script>) <javascript:alert(5)>',
  '[![ref]][ref]\n\n[ref]: https://evil.example/d.png "x"',
  '<style>@import "//evil.example/e.css"</style><svg/onload=alert(6)><base href=//evil.example>',
  '<meta http-equiv=refresh content="0;url=https://evil.example"><form action=//evil.example><button>Send</button></form>',
];

/** The hostile strings of a set; the test is skipped where they are absent. */
export function hostile(set: (typeof SETS)[number]): string[] {
  const folder = join(process.env.HOSTILE ?? '', set);
  test.skip(!existsSync(folder), `the hostile strings are not here (../shared/eval/${set})`);
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  if (set === 'naughty-strings') return JSON.parse(read('blns.json'));
  const lines = read('attacks.jsonl').trim().split('\n');
  return lines.map((line) => JSON.parse(line).instruction);
}

/** Expects text alone: nothing that loads, runs or sends, and links that open nothing by themselves. */
export async function expectHarmless(place: Locator) {
  await expect(place.locator(FOREIGN)).toHaveCount(0);
  const odd = await place.evaluate((root) =>
    [...root.querySelectorAll('*')].flatMap((element) =>
      [...element.attributes]
        .filter(
          ({ name, value }) =>
            name.startsWith('on') || name === 'srcdoc' || /^\s*(javascript|data|vbscript):/i.test(value),
        )
        .map(({ name, value }) => `${element.tagName} ${name}=${value}`),
    ),
  );
  expect(odd).toEqual([]);
  const links = await place
    .locator('a[href^=http], a[href^="//"], a[href^=mailto]')
    .evaluateAll((all) => all.map((link) => [link.getAttribute('target'), link.getAttribute('rel')]));
  for (const link of links) expect(link).toEqual(['_blank', 'noreferrer']);
}
