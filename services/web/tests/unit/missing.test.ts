import { expect, test } from 'vitest';
import type { Schemas } from '../../src/api/client';
import { filteredOut, isFolded, placeOf } from '../../src/search/missing';

const document = { media_type: 'text/markdown', language: 'en', source_type: 'upload', tags: ['x'] } as never;
const hit = (id: string, copies: string[] = []) =>
  ({
    document_id: id,
    document_name: `${id}.md`,
    duplicates: copies.map((copy) => ({ document_id: copy })),
  }) as unknown as Schemas['Hit'];

test('a filter that keeps a document out is named with what the document has instead', () => {
  const address = new URLSearchParams('media_type=application/pdf&tag=x');
  expect(filteredOut(address, document)).toEqual([
    { facet: 'media_type', name: 'facetMediaType', wanted: ['application/pdf'], has: ['text/markdown'] },
  ]);
  expect(filteredOut(new URLSearchParams('language=en'), document)).toEqual([]);
});

test('a document is found by its own passage, or by one that stands for it', () => {
  const found = { hits: [hit('a'), hit('b', ['c'])] };
  expect(placeOf('a', found)).toBe(1);
  expect(placeOf('c', found)).toBe(2);
  expect(isFolded('c', found)).toBe('b.md');
  expect(isFolded('b', found)).toBeUndefined();
  expect(placeOf('z', found)).toBeUndefined();
});
