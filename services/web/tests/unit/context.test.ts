import { expect, test } from 'vitest';
import { blocksOf, placeOf, quoteIn, wholeLines } from '../../src/viewer/context';

const cut = (text: string, stretch: readonly [number, number] | undefined) => stretch && text.slice(...stretch);
const chunk = (start: number | null, end: number | null) => ({ markdown_start: start, markdown_end: end });
const PAGE = '# Handbook\n\nA token is **valid** for\n14 days. Then it is renewed.\n\n## Later\n\nA key is for ever.\n';

test('a passage stands where the API says, and its quote in it', () => {
  const place = placeOf(PAGE, chunk(77, 95))!;
  expect(cut(PAGE, place)).toBe('A key is for ever.');
  expect(cut(PAGE, quoteIn(PAGE, place, 'for ever'))).toBe('for ever');
});

test('a quote is found although the converter has other spaces and marks', () => {
  const place = placeOf(PAGE, chunk(12, 65))!;
  expect(cut(PAGE, wholeLines(PAGE, place))).toBe('A token is **valid** for\n14 days. Then it is renewed.');
  expect(cut(PAGE, quoteIn(PAGE, place, 'valid for 14 days.'))).toBe('valid** for\n14 days');
});

test('a quote is not marked outside its passage, nor unless it is found whole', () => {
  expect(quoteIn(PAGE, [12, 65], 'A key')).toBeUndefined();
  expect(quoteIn(PAGE, [12, 65], 'valid for 15 days')).toBeUndefined();
  expect(quoteIn(PAGE, [12, 65], '***')).toBeUndefined();
  expect(quoteIn(PAGE, [12, 65], '')).toBeUndefined();
});

test('a passage whose place cannot be told has none', () => {
  expect(placeOf(PAGE, chunk(null, null))).toBeUndefined();
});

test('characters beyond the first plane count as one, as in the API', () => {
  const text = '😀 🏠 Ünïcode 𝒳 ends.\n';
  const place = placeOf(text, chunk(4, 18))!;
  expect(cut(text, place)).toBe('Ünïcode 𝒳 ends');
  expect(cut(text, quoteIn(text, place, '𝒳   ends'))).toBe('𝒳 ends');
});

test('a long text is cut into blocks of lines, of which none is lost', () => {
  const text = Array.from({ length: 1001 }, (_, n) => `line ${n}`).join('\n');
  expect(blocksOf(text).length).toBeGreaterThan(1);
  expect(blocksOf(text).join('\n')).toBe(text);
  expect(blocksOf('')).toEqual([]);
});
