import { expect, test } from 'vitest';
import { MOST_DOCUMENTS, mentionAt, withDocument, without } from '../../src/chat/mentions';

const at = (text: string) => mentionAt(text.replace('|', ''), text.indexOf('|'));

test('an @ at the start of a word offers documents by what was typed after it', () => {
  expect(at('@|')).toEqual({ from: 0, words: '' });
  expect(at('What does @hand|book say?')).toEqual({ from: 10, words: 'hand' });
  expect(at('Compare (@adr-003|)')).toEqual({ from: 9, words: 'adr-003' });
  expect(at('Erst\n@Übersicht|')).toEqual({ from: 5, words: 'Übersicht' });
});

test('an address, or an @ with further words after it, offers nothing', () => {
  for (const text of ['ada@example.org|', '@handbook says|', 'no @|'.replace('@', ''), '|@x', `@${'x'.repeat(200)}|`])
    expect(at(text), text).toBeUndefined();
});

test('the name of the chosen document is taken out of the question', () => {
  expect(without('What does @hand say?', { from: 10, words: 'hand' })).toBe('What does say?');
  expect(without('@adr', { from: 0, words: 'adr' })).toBe('');
});

test('a document is named once, and no more than so many are', () => {
  const one = { id: '1', name: 'One' };
  expect(withDocument([one], one)).toEqual([one]);
  const many = Array.from({ length: MOST_DOCUMENTS }, (_, n) => ({ id: `d${n}`, name: '' }));
  expect(withDocument(many, one)).toEqual(many);
});
