import { expect, test } from 'vitest';
import { worldOf, worldOptions } from '../../src/memory/world';

const [one, two] = [
  { id: '1', title: 'One' },
  { id: '2', title: null },
];

test('the conversation that is open is offered once, also where the list does not reach it', () => {
  expect(worldOptions(undefined, undefined, [one, two])).toEqual([one, two]);
  expect(worldOptions('2', two, [one, two])).toEqual([one, two]);
  expect(worldOptions('3', { id: '3', title: 'Old' }, [one])).toEqual([{ id: '3', title: 'Old' }, one]);
  expect(worldOptions('3', undefined, [one])).toEqual([{ id: '3', title: null }, one]);
});

test('without a conversation the world is that of the workspace', () => {
  expect(worldOf(undefined)).toEqual({});
  expect(worldOf('1')).toEqual({ session_id: '1' });
});
