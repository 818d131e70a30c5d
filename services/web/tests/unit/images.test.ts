import { expect, test } from 'vitest';
import { chosen, MOST_IMAGES } from '../../src/chat/images';

const file = (name: string, type: string) => new File(['x'], name, { type });

test('images are taken, and what is refused is told by name', () => {
  const { taken, refused } = chosen(0, [file('a.png', 'image/png'), file('b.pdf', 'application/pdf')]);
  expect(taken.map(({ name }) => name)).toEqual(['a.png']);
  expect(refused).toHaveLength(1);
  expect(refused[0]).toContain('b.pdf');
});

test('no more are taken than a question can show', () => {
  const many = Array.from({ length: 4 }, (_, index) => file(`${index}.png`, 'image/png'));
  const { taken, refused } = chosen(MOST_IMAGES - 2, many);
  expect(taken).toHaveLength(2);
  expect(refused[0]).toContain(String(MOST_IMAGES));
});
