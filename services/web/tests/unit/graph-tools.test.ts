import { expect, test } from 'vitest';
import { answered } from '../../src/graph/tools';

test('an answer of the graph says how many documents it does not have yet', async () => {
  const told = { success: true, result: { name: 'UserDB' } };
  expect(await answered(Promise.resolve({ ...told, documents_pending: 3 }))).toEqual({ name: 'UserDB', pending: 3 });
  expect(await answered(Promise.resolve({ ...told, documents_pending: null }))).toEqual({ name: 'UserDB', pending: 0 });
  const unknown = { success: false, error: 'no such entity', suggestions: ['UserDB'], documents_pending: 2 };
  const refusal = { message: 'no such entity', status: 404, suggestions: ['UserDB'], pending: 2 };
  await expect(answered(Promise.resolve(unknown))).rejects.toMatchObject(refusal);
});
