import { expect, test } from 'vitest';
import { givenName, lastPart } from '../../src/api/save';
import { writes } from '../../src/api/use-model';

test('a file has the name that the API gives it', () => {
  expect(givenName('attachment; filename="Outage report.docx"')).toBe('Outage report.docx');
  expect(givenName('attachment')).toBe('');
  expect(givenName(null)).toBe('');
  expect(lastPart('handbook.zip/teams/plan.pdf')).toBe('plan.pdf');
  expect(lastPart('plan.pdf')).toBe('plan.pdf');
});

test('there is a model where the operator has one or the workspace chose one', () => {
  const model = (id: string) => ({ id, created: 0, description: '' }) as Parameters<typeof writes>[0][number];
  const setting = (key: string, value: unknown) => ({ key, value }) as Parameters<typeof writes>[1][number];
  expect(writes([model('attractor'), model('attractor/mine')], [setting('roles.answer', [])])).toBe(false);
  expect(writes([model('attractor'), model('attractor-plain')], [])).toBe(true);
  expect(writes([model('attractor')], [setting('roles.answer', [{ provider: 'ours', model: 'm' }])])).toBe(true);
});
