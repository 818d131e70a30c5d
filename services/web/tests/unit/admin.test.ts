import { expect, test } from 'vitest';
import { partsFor } from '../../src/admin/parts';
import { rolesUpTo } from '../../src/admin/roles';

const names = (role: Parameters<typeof partsFor>[0]) => partsFor(role).map(({ name }) => name);

test('each role is offered what it may do, and nothing more', () => {
  expect(names('viewer')).toEqual(['status', 'usage', 'settings', 'presets', 'keys']);
  expect(names('editor')).toEqual(['status', 'usage', 'settings', 'presets', 'keys']);
  expect(names('owner')).toEqual(['status', 'usage', 'settings', 'presets', 'keys', 'people', 'audit']);
  expect(rolesUpTo('editor').map(({ value }) => value)).toEqual(['viewer', 'editor']);
});
