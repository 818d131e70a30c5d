// The parts of the world state that the page shows, by their JSON pointers. Pure.
import type { Schemas } from '../api/client';
import { type Key, t } from '../i18n';

type World = Schemas['WorldDocument'];

/** A single value that can be set or cleared. */
export const FIELDS = [
  { path: '/project/name', label: 'worldProjectName', of: (world: World) => world.project?.name },
  { path: '/project/summary', label: 'worldSummary', of: (world: World) => world.project?.summary },
  { path: '/project/status', label: 'worldStatus', of: (world: World) => world.project?.status },
  { path: '/identity/user_name', label: 'worldUserName', of: (world: World) => world.identity?.user_name },
  { path: '/identity/assistant_name', label: 'worldAssistant', of: (world: World) => world.identity?.assistant_name },
  { path: '/identity/language', label: 'worldLanguage', of: (world: World) => world.identity?.language },
  { path: '/identity/location', label: 'worldLocation', of: (world: World) => world.identity?.location },
  { path: '/timezone', label: 'worldTimeZone', of: (world: World) => world.timezone },
] as const satisfies { path: string; label: Key; of: (world: World) => string | null | undefined }[];

/** A list whose items can be added and removed. */
export const LISTS = [
  { path: '/goals', label: 'worldGoals', of: (world: World) => world.goals ?? [] },
  { path: '/decisions', label: 'worldDecisions', of: (world: World) => world.decisions ?? [] },
  { path: '/rules', label: 'worldRules', of: (world: World) => world.rules ?? [] },
  { path: '/topics', label: 'worldTopics', of: (world: World) => world.topics ?? [] },
  { path: '/open_questions', label: 'worldQuestions', of: (world: World) => world.open_questions ?? [] },
] as const satisfies { path: string; label: Key; of: (world: World) => string[] }[];

/** Returns the query parameters of a world: the workspace's, or that of a conversation. */
export const worldOf = (sessionId: string | undefined) => (sessionId ? { session_id: sessionId } : {});

type Named = Pick<Schemas['Session'], 'id' | 'title'>;

/** Returns the conversations to choose from, including the open one even if it is not on the list. */
export function worldOptions(open: string | undefined, named: Named | undefined, listed: readonly Named[]): Named[] {
  if (open === undefined || listed.some(({ id }) => id === open)) return [...listed];
  return [named ?? { id: open, title: null }, ...listed];
}

/** Returns the name of a place in the document, for what the page shows. */
export function nameOf(path: string | null): string {
  const part = [...FIELDS, ...LISTS].find((each) => path === each.path || path?.startsWith(`${each.path}/`));
  return part ? t(part.label) : (path ?? '');
}

/** Returns a value of the document on one line. */
export const inWords = (value: unknown): string =>
  value === null || value === undefined ? '–' : typeof value === 'string' ? value : JSON.stringify(value);
