import { expect, test } from 'vitest';
import { blocksOf, inContext, wholeLines } from '../../src/viewer/context';

const cut = (text: string, stretch: readonly [number, number] | undefined) => stretch && text.slice(...stretch);
const PAGE = '# Handbook\n\nA token is **valid** for\n14 days. Then it is renewed.\n\n## Later\n\nA key is for ever.\n';

test('a passage stands in its document letter by letter, and its quote in the passage', () => {
  const found = inContext(PAGE, 'A key is for ever.', 'for ever', 1)!;
  expect(cut(PAGE, found.passage)).toBe('A key is for ever.');
  expect(cut(PAGE, found.quote)).toBe('for ever');
});

test('it is found although the converter has other spaces and marks', () => {
  const found = inContext(PAGE, 'A token is valid for 14 days. Then it is renewed.', 'valid for 14 days.', 0)!;
  expect(cut(PAGE, wholeLines(PAGE, found.passage))).toBe('A token is **valid** for\n14 days. Then it is renewed.');
  expect(cut(PAGE, found.quote)).toBe('valid** for\n14 days');
});

test('of several places the one nearest to where the passage was is taken', () => {
  const text = `Same words.\n${'-'.repeat(100)}\nSame words.`;
  expect(inContext(text, 'Same words.', 'Same', 0)!.passage[0]).toBe(0);
  expect(inContext(text, 'Same words.', 'Same', 0.9)!.passage[0]).toBe(text.length - 11);
});

test('nothing is marked unless it is found whole', () => {
  expect(inContext(PAGE, 'A token is valid for 15 days.', 'valid', 0)).toBeUndefined();
  expect(inContext(PAGE, 'A key is for ever.', 'for good', 0)!.quote).toBeUndefined();
  expect(inContext(PAGE, '***', '*', 0)).toBeUndefined();
});

test('characters beyond the first plane keep their places', () => {
  const text = '😀 🏠 Ünïcode 𝒳 ends.\n';
  const found = inContext(text, 'Ünïcode   𝒳 ends', '𝒳 ends', 0)!;
  expect(cut(text, found.passage)).toBe('Ünïcode 𝒳 ends');
  expect(cut(text, found.quote)).toBe('𝒳 ends');
});

test('a long text is cut into blocks of lines, of which none is lost', () => {
  const text = Array.from({ length: 1001 }, (_, n) => `line ${n}`).join('\n');
  expect(blocksOf(text).length).toBeGreaterThan(1);
  expect(blocksOf(text).join('\n')).toBe(text);
  expect(blocksOf('')).toEqual([]);
});
