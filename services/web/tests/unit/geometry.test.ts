import { expect, test } from 'vitest';
import { around, type LineBox, linesOf, locate, share, type TextRun } from '../../src/viewer/geometry';

const line = (text: string, top: number, left = 10): TextRun => ({
  text,
  left,
  top,
  width: text.length * 5,
  height: 10,
});
const PAGE = [line('A refresh token lives', 100), line('14 days. It is re-', 112), line('placed at each use.', 124)];

test('a quote over several lines and a hyphen is one rectangle a line', () => {
  const found = locate('It is replaced at each use.', PAGE);
  expect(found).toHaveLength(2);
  expect(found[0]).toMatchObject({ top: 112 });
  expect(found[0]!.left).toBeGreaterThan(10);
  expect(found[1]).toMatchObject({ top: 124, left: 10 });
});

test('only inside the box, so that a repeated sentence elsewhere is not marked', () => {
  const twice = [...PAGE, line('14 days.', 400)];
  expect(locate('14 days.', twice, [0, 395, 600, 420]).map((each) => each.top)).toEqual([400]);
});

test('what is not there whole marks nothing', () => {
  expect(locate('A refresh token lives 30 days.', PAGE)).toEqual([]);
  expect(locate('', PAGE)).toEqual([]);
});

test('a rectangle is told in shares of the page', () => {
  const page = { left: 60, top: 200, width: 300, height: 80 };
  expect(share(page, 600, 800)).toEqual({ left: 0.1, top: 0.25, width: 0.5, height: 0.1 });
});

test.each([
  ["a session's page", 'a session’s page'],
  ['it says "none" twice', 'it says “none” twice'],
  ['with -link no key', 'with –link no key'],
  ['3 - 5 degrees', '3 \u2212 5 degrees'],
])('the converter writes %s, the page %s: the words are found', (quote, text) => {
  const runs = [{ text: `Before. ${text}.`, left: 0, top: 0, width: 100, height: 10 }];
  expect(locate(quote, runs)).toHaveLength(1);
});

const lines: LineBox[] = [
  { page: 1, box: [10, 100, 110, 110], start: 0, end: 20 },
  { page: 1, box: [10, 112, 60, 122], start: 21, end: 31 },
  { page: 2, box: [20, 50, 120, 60], start: 32, end: 52 },
];

test('where a page is a picture, the lines of a quote are marked, the first and last in part', () => {
  expect(linesOf(lines, 10, 31)).toEqual([
    { page: 1, left: 60, top: 100, width: 50, height: 10 },
    { page: 1, left: 10, top: 112, width: 50, height: 10 },
  ]);
  expect(linesOf(lines, 32, 42)).toEqual([{ page: 2, left: 20, top: 50, width: 50, height: 10 }]);
  expect(linesOf(lines, 20, 21)).toEqual([]);
});

test('the frame of a page is around its lines', () => {
  expect(around(lines, 1)).toEqual([10, 100, 110, 122]);
  expect(around(lines, 3)).toBeUndefined();
});
