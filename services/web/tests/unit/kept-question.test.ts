import { expect, test } from 'vitest';
import { keepDocuments, keepQuestion, keptDocuments, keptQuestion } from '../../src/chat/kept-question';

function storage(): Storage {
  const kept = new Map<string, string>();
  return {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, text: string) => void kept.set(name, text),
    removeItem: (name: string) => void kept.delete(name),
    get length() {
      return kept.size;
    },
  } as unknown as Storage;
}

test('a question and the documents named in it are kept for each conversation, until they are sent', () => {
  const tab = storage();
  const handbook = { id: '1', name: 'Handbook' };
  keepQuestion('a', 'Why?', tab);
  keepDocuments('a', [handbook], tab);
  expect(keptQuestion('a', tab)).toBe('Why?');
  expect(keptDocuments('a', tab)).toEqual([handbook]);
  expect(keptDocuments('b', tab)).toEqual([]);
  keepQuestion('a', '', tab);
  keepDocuments('a', [], tab);
  expect(tab.length).toBe(0);
});
