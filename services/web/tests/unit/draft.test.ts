import { beforeEach, expect, test } from 'vitest';
import type { Artifact } from '../../src/artifact/artifacts';
import { beside, isChanged, keep, opened } from '../../src/artifact/draft';

const artifact = (version: number, text: string) => ({ id: 'a', version, text }) as Artifact;
const items = new Map<string, string>();
const storage = {
  getItem: (key: string) => items.get(key) ?? null,
  setItem: (key: string, value: string) => void items.set(key, value),
  removeItem: (key: string) => void items.delete(key),
} as Storage;
beforeEach(() => items.clear());

test('what was not saved is there after a reload, with the version that it was made from', () => {
  keep({ base: artifact(3, 'old'), text: 'typed' }, storage);
  const draft = opened(artifact(5, 'theirs'), storage);
  expect(draft.text).toBe('typed');
  expect(draft.base.version).toBe(3); // saving is refused, and both texts are shown
  expect(isChanged(draft)).toBe(true);
  expect(beside(draft, artifact(5, 'theirs'))).toBe(draft);
});

test('what is saved is not kept', () => {
  keep({ base: artifact(3, 'old'), text: 'typed' }, storage);
  keep({ base: artifact(4, 'typed'), text: 'typed' }, storage);
  expect(items.size).toBe(0);
  expect(opened(artifact(4, 'typed'), storage)).toEqual({ base: artifact(4, 'typed'), text: 'typed' });
});

test('a text that was not changed follows the artifact, a changed one waits', () => {
  const same = { base: artifact(3, 'old'), text: 'old' };
  expect(beside(same, artifact(4, 'new')).text).toBe('new');
  const changed = { base: artifact(3, 'old'), text: 'typed' };
  expect(beside(changed, artifact(4, 'new'))).toBe(changed);
  expect(beside(changed, artifact(4, 'old'))).toEqual({ base: artifact(4, 'old'), text: 'typed' });
});

test('an answer that is late does not bring back an older version', () => {
  const now = { base: artifact(4, 'new'), text: 'new' };
  expect(beside(now, artifact(3, 'old'))).toBe(now);
});

test('a browser without room for it does not stop who writes', () => {
  const full = {
    ...storage,
    setItem: () => {
      throw new DOMException('full', 'QuotaExceededError');
    },
  } as Storage;
  expect(keep({ base: artifact(3, 'old'), text: 'typed' }, full)).toBe(false);
});
