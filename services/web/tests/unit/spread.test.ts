import { expect, test } from 'vitest';
import { around, clear, type Reach, spread } from '../../src/graph/spread';

const BOX = { width: 900, height: 440 };
const clump = (count: number): [number, number][] => [
  ...Array.from({ length: count - 1 }, (_, index): [number, number] => [Math.cos(index) / 50, Math.sin(index) / 50]),
  [9, -9],
];
const labelled = (count: number): Reach[] =>
  Array.from({ length: count }, (_, index) => ({ radius: 5 + (index % 7), label: 40 + (index % 5) * 25 }));

test('a clump of nodes and one far away fill the picture, and no label is over another or cut off', () => {
  const reaches = labelled(40);
  const places = spread(clump(40), reaches, BOX);
  const rectangles = places.map((place, index) => around(place, reaches[index]!));
  expect(clear(rectangles)).toHaveLength(40);
  for (const { left, right, top, bottom } of rectangles) {
    expect(Math.min(left, top)).toBeGreaterThanOrEqual(0);
    expect(right).toBeLessThanOrEqual(BOX.width);
    expect(bottom).toBeLessThanOrEqual(BOX.height);
  }
  const widest = Math.max(...rectangles.map(({ right }) => right)) - Math.min(...rectangles.map(({ left }) => left));
  expect(widest).toBeGreaterThan(0.8 * BOX.width);
});

test('on a phone, which has no room for all labels, a third is still legible, and no node is cut off', () => {
  const phone = { width: 320, height: 440 };
  const reaches = labelled(60);
  const places = spread(clump(60), reaches, phone);
  const rectangles = places.map((place, index) => around(place, reaches[index]!));
  expect(clear(rectangles).length).toBeGreaterThan(20);
  for (const [x, y] of places) expect(x >= 5 && x <= 315 && y >= 5 && y <= 435).toBe(true);
});

test('nodes at the same place are moved apart, and what is over an earlier one is not clear', () => {
  const reaches = labelled(2);
  const [one, other] = spread(
    [
      [1, 1],
      [1, 1],
    ],
    reaches,
    BOX,
  ).map((place, index) => around(place, reaches[index]!));
  expect(clear([one!, other!])).toEqual([0, 1]);
  expect(clear([one!, one!, other!])).toEqual([0, 2]);
});
