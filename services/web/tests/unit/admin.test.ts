import { expect, test } from 'vitest';
import { partsFor } from '../../src/admin/parts';
import { rolesUpTo } from '../../src/admin/roles';

const names = (role: Parameters<typeof partsFor>[0]) => partsFor(role).map(({ name }) => name);

test('each role is offered what it may do, and nothing more', () => {
  const everybody = ['status', 'runs', 'usage', 'settings', 'presets', 'quickActions', 'keys'];
  expect(names('viewer')).toEqual(everybody);
  expect(names('editor')).toEqual(everybody);
  expect(names('owner')).toEqual([...everybody, 'people', 'limits', 'audit']);
  expect(rolesUpTo('editor').map(({ value }) => value)).toEqual(['viewer', 'editor']);
});
