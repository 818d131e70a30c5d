import { beforeAll, expect, test, vi } from 'vitest';
import type { Schemas } from '../../src/api/client';
import { countsOf, isUnderWay, locationOf, resultOf, sourceOf } from '../../src/documents/sources';

const form = (values: Record<string, string>) => {
  const data = new FormData();
  for (const [name, value] of Object.entries(values)) data.set(name, value);
  return data;
};
const NONE = { added: 0, changed: 0, removed: 0, unchanged: 0, refused: 0 };
const sync = (values: Partial<Schemas['Sync']>): Schemas['Sync'] => ({
  ...NONE,
  id: '1',
  source_id: '2',
  attempts: 1,
  bytes: 0,
  seen: 0,
  excluded: 0,
  dry_run: false,
  error_class: null,
  error_message: null,
  created_at: '2026-03-01T10:00:00Z',
  started_at: null,
  finished_at: null,
  heartbeat_at: null,
  status: 'succeeded',
  trigger: 'request',
  worker: null,
  ...values,
});

beforeAll(() => vi.stubGlobal('document', { documentElement: { lang: 'en' } }));

test('each kind of source has its own place, and patterns are separated by commas', () => {
  const folder = {
    kind: 'folder',
    name: ' Wiki ',
    path: '/srv/wiki',
    watch: 'on',
    include: '*.md, docs/**,',
    every: '',
  };
  expect(sourceOf(form(folder))).toEqual({
    name: 'Wiki',
    config: { kind: 'folder', path: '/srv/wiki', watch: true, include: ['*.md', 'docs/**'], exclude: [] },
    on_removed: 'delete',
  });
  const site = {
    kind: 'web',
    name: 'Site',
    url: 'https://example.org',
    mode: 'crawl',
    every: '3600',
    on_removed: 'mark_stale',
  };
  expect(sourceOf(form(site))).toMatchObject({
    config: { kind: 'web', url: 'https://example.org', mode: 'crawl' },
    every_seconds: 3600,
    on_removed: 'mark_stale',
  });
  expect(sourceOf(form({ kind: 'git', name: 'Code', path: '/srv/code' })).config).toMatchObject({ ref: 'HEAD' });
  expect(sourceOf(form({ kind: 's3', name: 'B', bucket: 'files' })).config).toMatchObject({ connection: 'default' });
});

test('a source says where its files are', () => {
  expect(locationOf({ kind: 's3', bucket: 'files', prefix: 'team/' })).toBe('files/team/');
  expect(locationOf({ kind: 'git', path: '/srv/code', ref: 'main' })).toBe('/srv/code (main)');
  expect(locationOf({ kind: 'folder', path: '/srv/wiki' })).toBe('/srv/wiki');
});

test('a synchronisation is told in a sentence, its failure with the reason of the API', () => {
  expect(countsOf({ ...NONE, added: 2, refused: 1 })).toBe('2 new, 1 refused');
  expect(countsOf(NONE)).toBe('no files');
  expect(resultOf(sync({ changed: 3 }))).toMatch(/^Synchronised .*: 3 changed\.$/);
  expect(resultOf(sync({ dry_run: true, added: 1 }))).toBe('1 new');
  const failed = sync({ status: 'failed', error_message: 'The folder is not there.', error_class: 'not-found' });
  expect(resultOf(failed)).toMatch(/^Failed .*: The folder is not there\.$/);
  expect(resultOf(sync({ status: 'running', seen: 1200 }))).toBe('In progress: 1,200 files seen.');
  expect(isUnderWay({ status: 'queued' })).toBe(true);
  expect(isUnderWay({ status: 'failed' })).toBe(false);
});
