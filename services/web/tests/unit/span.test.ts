import { expect, test } from 'vitest';
import { spanOf } from '../../src/viewer/span';

test('a span that is given is taken, else the quote is looked for, in characters', () => {
  expect(spanOf({ start: 2, end: 5, quote: 'x' }, 'abcdef')).toEqual([2, 5]);
  expect(spanOf({ start: 0, end: 0, quote: 'last.' }, '🏮 Keys last.')).toEqual([7, 12]);
  expect(spanOf({ start: 0, end: 0, quote: 'elsewhere' }, 'Keys last.')).toEqual([0, 0]);
});
