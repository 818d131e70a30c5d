// Watched sources: from the form to a request, and from a synchronisation to a sentence. Pure.
import type { Schemas } from '../api/client';
import { explained, type Key, number, t, when } from '../i18n';

type Config = Schemas['SourceCreate']['config'];
type Sync = Schemas['Sync'];

export const KINDS = {
  folder: 'kindFolder',
  git: 'kindGit',
  s3: 'kindS3',
  web: 'kindWeb',
} as const satisfies Record<string, Key>;
export type KindName = keyof typeof KINDS;

export const MODES = { page: 'webPage', sitemap: 'webSitemap', crawl: 'webCrawl' } as const satisfies Record<
  string,
  Key
>;
export const REMOVED = { delete: 'removedDelete', mark_stale: 'removedStale' } as const satisfies Record<
  Schemas['OnRemoved'],
  Key
>;
/** Seconds between synchronisations that can be chosen, with their names; '' is on request. */
export const INTERVALS = [
  ['', 'everyRequest'],
  ['300', 'everyMinutes'],
  ['3600', 'everyHour'],
  ['86400', 'everyDay'],
  ['604800', 'everyWeek'],
] as const satisfies [string, Key][];

const patterns = (text: string): string[] => text.split(',').flatMap((each) => each.trim() || []);

/** Reads the form's fields. */
export function sourceOf(form: FormData): Schemas['SourceCreate'] {
  const text = (name: string) => String(form.get(name) ?? '').trim();
  const every = Number(text('every'));
  return {
    name: text('name'),
    config: configOf(text),
    on_removed: text('on_removed') === 'mark_stale' ? 'mark_stale' : 'delete',
    ...(every > 0 && { every_seconds: every }),
  };
}

function configOf(text: (name: string) => string): Config {
  const shared = { include: patterns(text('include')), exclude: patterns(text('exclude')) };
  switch (text('kind') as KindName) {
    case 'folder':
      return { kind: 'folder', path: text('path'), watch: text('watch') === 'on', ...shared };
    case 'git':
      return { kind: 'git', path: text('path'), ref: text('ref') || 'HEAD', ...shared };
    case 's3': {
      const connection = text('connection') || 'default';
      return { kind: 's3', bucket: text('bucket'), prefix: text('prefix'), connection, ...shared };
    }
    case 'web':
      return { kind: 'web', url: text('url'), mode: text('mode') as keyof typeof MODES, ...shared };
  }
}

/** Where the source's files are. */
export function locationOf(config: Schemas['Source']['config']): string {
  if ('bucket' in config) return `${config.bucket}/${config.prefix ?? ''}`;
  if ('url' in config) return config.url;
  return 'ref' in config ? `${config.path} (${config.ref})` : config.path;
}

export const isUnderWay = ({ status }: Pick<Sync, 'status'>): boolean => status === 'queued' || status === 'running';

/** How a synchronisation went, in a sentence. */
export function resultOf(sync: Sync): string {
  const at = when(sync.finished_at ?? sync.created_at);
  switch (sync.status) {
    case 'queued':
      return t('syncQueued');
    case 'running':
      return t('syncRunning', { count: number(sync.seen) });
    case 'cancelled':
      return t('syncCancelled', { at });
    case 'failed':
      return t('syncFailed', { at, reason: explained(sync.error_class, sync.error_message ?? '') });
    case 'succeeded':
      return sync.dry_run ? countsOf(sync) : t('syncDone', { at, what: countsOf(sync) });
  }
}

/** What has changed, or would change; zeros are left out. */
export function countsOf(sync: Pick<Sync, 'added' | 'changed' | 'removed' | 'unchanged' | 'refused'>): string {
  const parts = (
    [
      ['countAdded', sync.added],
      ['countChanged', sync.changed],
      ['countRemoved', sync.removed],
      ['countUnchanged', sync.unchanged],
      ['countRefused', sync.refused],
    ] as const
  ).flatMap(([key, count]) => (count > 0 ? t(key, { count: number(count) }) : []));
  return parts.join(', ') || t('noFiles');
}
