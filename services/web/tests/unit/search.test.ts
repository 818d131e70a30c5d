import { expect, test } from 'vitest';
import { cited, modeOf, pieces, request } from '../../src/search/wanted';

const hit = { content: '🏮 Keys expire. Tokens last.', document_name: 'a.md', heading_path: [] } as never as Parameters<
  typeof cited
>[0];

test('what is marked is counted in characters, and what overlaps is marked once', () => {
  const highlights = [
    { start: 15, end: 27, score: 0.2 },
    { start: 2, end: 14, score: 0.9 },
    { start: 10, end: 14, score: 0.1 },
  ];
  const found = pieces(hit.content, highlights);
  expect(found.filter(({ marked }) => marked).map(({ text }) => text)).toEqual(['Keys expire.', 'Tokens last.']);
  expect(found.map(({ text }) => text).join('')).toBe(hit.content);
});

test('a passage opens at the words that fit best; without any it is quoted whole', () => {
  const highlights = [
    { start: 15, end: 27, score: 0.2 },
    { start: 2, end: 14, score: 0.9 },
  ];
  expect(cited({ ...hit, highlights }, 3)).toMatchObject({ number: 3, quote: 'Keys expire.', start: 2, end: 14 });
  expect(cited(hit, 1).quote).toBe(hit.content);
});

test('the address holds query, mode and filters, and nothing unknown becomes a mode', () => {
  const address = new URLSearchParams('q=keys&mode=dense&media_type=text/html&media_type=text/plain');
  expect(request(address)).toMatchObject({ query: 'keys', mode: 'dense', media_types: ['text/html', 'text/plain'] });
  expect(request(address)).not.toHaveProperty('tags');
  expect(modeOf(new URLSearchParams('mode=toString'))).toBeUndefined();
});
