import { expect, test } from 'vitest';
import { formOf, membersOf, parsed, written } from '../../src/settings/forms';
import { mayShare, mayWrite, writtenIn } from '../../src/settings/quick-actions';
import { keptOf, LANGUAGES } from '../../src/shell/appearance';

test('a setting gets the field that its schema asks for; an unknown form is written as JSON', () => {
  expect(formOf({ type: 'string', maxLength: 8000 })).toMatchObject({ kind: 'text', isLong: true });
  expect(formOf({ type: 'string', maxLength: 500 })).toMatchObject({ kind: 'text', isLong: false });
  expect(formOf({ type: 'integer', minimum: 1, maximum: 50 })).toMatchObject({
    kind: 'number',
    isWhole: true,
    most: 50,
  });
  expect(formOf({ type: 'boolean' })).toEqual({ kind: 'truth' });
  expect(formOf({ type: 'string', enum: ['on', 'off'] })).toEqual({ kind: 'choice', values: ['on', 'off'] });
  const models = { type: 'array', maxItems: 5, items: { $ref: '#/$defs/RoleModel' } };
  expect(formOf(models)).toEqual({ kind: 'models', most: 5 });
  expect(formOf({ type: 'array', items: { type: 'string' } })).toEqual({ kind: 'json' });
});

test('what is written becomes the value of the schema, and nothing written the default', () => {
  const whole = formOf({ type: 'integer' });
  expect(parsed(whole, '12')).toBe(12);
  expect(parsed(whole, ' ')).toBeUndefined();
  expect(parsed(formOf({ type: 'string' }), ' Be brief. ')).toBe('Be brief.');
  const list = formOf({ type: 'array', items: { type: 'string' } });
  expect(parsed(list, written(list, ['a', 'b']))).toEqual(['a', 'b']);
  expect(() => parsed(list, '[')).toThrow();
  expect(written(whole, null)).toBe('');
});

test('the members of a family are found among the keys', () => {
  const keys = ['answers.passages', 'providers.two.base_url', 'providers.one.base_url', 'providers.one.api_key'];
  expect(membersOf('providers.{name}.base_url', keys)).toEqual(['one', 'two']);
});

test('quick actions of all members are for those who may write; own ones are for everybody', () => {
  expect(mayShare('viewer')).toBe(false);
  expect(mayShare('editor')).toBe(true);
  expect(mayWrite('viewer', { shared: false })).toBe(true);
  expect(mayWrite('viewer', { shared: true })).toBe(false);
  expect(mayWrite('editor', { shared: true })).toBe(true);
});

test('a quick action is sent as its form says, without the spaces around', () => {
  const form = new FormData();
  form.set('name', ' Brief ');
  form.set('prompt', 'Make it brief.\n');
  form.set('use_history', 'on');
  const sent = { name: 'Brief', prompt: 'Make it brief.', use_history: true, use_preferences: false };
  expect(writtenIn(form)).toEqual(sent);
});

test('what was kept in the browser counts only while it can be chosen', () => {
  expect(keptOf(LANGUAGES, 'de')).toBe('de');
  for (const unknown of [null, '', 'tlh', 'toString']) expect(keptOf(LANGUAGES, unknown)).toBeUndefined();
});
