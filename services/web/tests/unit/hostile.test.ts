import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import { Answer } from '../../src/chat/Answer';

const FOLDER = process.env.HOSTILE ?? resolve(import.meta.dirname, '../../../../../shared/eval');
// What Markdown can become here
const ELEMENTS =
  /^(a|blockquote|br|code|del|em|h[1-6]|hr|input|li|ol|p|pre|section|strong|sup|table|tbody|td|th|thead|tr|ul)$/;
const ATTRIBUTES = /^(aria-[a-z]+|class|checked|data-footnote[a-z-]*|dir|disabled|id|rel|start|style|target|type)$/;
const MARKS = /[[\]`*_~\\&#|>-]|^\s*\d+[.)]|https?:|www\./m; // of Markdown, which need not be shown
const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#x27': "'" };

const rendered = (text: string) =>
  renderToStaticMarkup(createElement(Answer, { text, citations: [], onOpen: () => undefined }));
const lettersOf = (text: string) => text.replace(/[^\p{L}\p{N}]/gu, '');
const textOf = (markup: string) =>
  markup.replace(/<[^>]*>/g, '').replace(/&(amp|lt|gt|quot|#x27);/g, (_, name: string) => ENTITIES[name]!);

const OWN = [
  '![picture](https://evil.example/a.png) [![nested](//evil.example/b.png)](https://evil.example)',
  '[press](javascript:alert(3)) [data](data:text/html,x) <javascript:alert(5)> [ref]\n\n[ref]: vbscript:x "x"',
  '<img src=https://evil.example/c.png onerror=alert(1)><script>alert(2)</script>\n\n<iframe src=//evil.example></iframe>',
];
const SETS: [name: string, read: (folder: string) => string[]][] = [
  ['naughty-strings', (folder) => JSON.parse(readFileSync(join(folder, 'blns.json'), 'utf8'))],
  [
    'injection-bipia',
    (folder) =>
      readFileSync(join(folder, 'attacks.jsonl'), 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).instruction),
  ],
];

for (const [name, read] of SETS) {
  const folder = join(FOLDER, name);
  test.skipIf(!existsSync(folder))(`${name} become text, whatever they look like`, () => {
    const texts = read(folder);
    expect(texts.length).toBeGreaterThan(100);
    for (const text of texts) expectText(text);
  });
}

test('nothing of Markdown or HTML loads, runs or sends anything', () => {
  for (const text of OWN) expectText(text);
});

/** Expects markup of which nothing but links can do anything, and in it all letters of what is no Markdown. */
function expectText(text: string) {
  const markup = rendered(text);
  for (const [, element, attributes] of markup.matchAll(/<([a-z][^\s/>]*)([^>]*)>/gi)) {
    expect(element, text).toMatch(ELEMENTS);
    for (const [, attribute, value] of attributes!.matchAll(/([^\s=/]+)="([^"]*)"/g))
      if (attribute === 'href') expect(value, text).toMatch(/^(https?:|mailto:|[^:]*$)/);
      else expect(attribute, text).toMatch(ATTRIBUTES);
  }
  if (!MARKS.test(text)) expect(lettersOf(textOf(markup))).toBe(lettersOf(text));
}
