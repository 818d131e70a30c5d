import { expect, test } from 'vitest';
import { nextZoom } from '../../src/viewer/zoom';

test('the zoom goes step by step, and ends at the whole page and at three times its size', () => {
  const steps = [1];
  for (let next = nextZoom(1, 1); next; next = nextZoom(next, 1)) steps.push(next);
  expect(steps).toEqual([1, 1.25, 1.5, 2, 3]);
  expect(steps.map((step) => nextZoom(step, -1))).toEqual([undefined, 1, 1.25, 1.5, 2]);
});
