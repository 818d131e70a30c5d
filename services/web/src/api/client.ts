// The typed client of the HTTP API: same origin, the session's cookie, and problems (RFC 9457) as errors.
import createClient from 'openapi-fetch';
import { t, told, worded } from '../i18n';
import type { components, paths } from './schema';
import { workspaceHeaders } from './workspace';

export type Schemas = components['schemas'];
const AWAY: ReadonlySet<number> = new Set([502, 503, 504]);

/** An error of the API: `type` is its stable slug, the message tells the user what to do. */
export class Problem extends Error {
  readonly type: string;
  readonly status: number;
  /** What happened this time, without the title. */
  readonly detail: string | undefined;

  constructor(status: number, body: Partial<Schemas['ProblemBody']> | undefined) {
    const title = body?.title && told(body.type ?? '', body.title);
    const detail = body?.detail ? worded(body.detail) : undefined;
    const text = title && detail ? `${title}: ${detail}` : (detail ?? title);
    const trace = status >= 500 && body?.trace_id ? ` (trace ${body.trace_id})` : ''; // what an operator looks for
    const what = `${text ?? `HTTP ${status}`}${trace}`;
    super(AWAY.has(status) ? `${what.replace(/\.$/, '')}. ${t('tryLater')}` : what);
    this.type = body?.type ?? 'unknown';
    this.status = status;
    this.detail = detail;
  }

  static async of(response: Response): Promise<Problem> {
    const body = await response.json().catch(() => undefined);
    return new Problem(response.status, body);
  }
}

export const api = createClient<paths>({ credentials: 'same-origin' });

api.use({
  onRequest({ request }) {
    for (const [name, value] of Object.entries(workspaceHeaders())) request.headers.set(name, value);
  },
  async onResponse({ response }) {
    if (!response.ok) throw await Problem.of(response);
  },
  onError({ error }) {
    // The browser's own words for a lost connection are in its language, and differ
    return error instanceof TypeError ? new Problem(0, { title: t('unreachable') }) : undefined;
  },
});

/** Returns the body of a successful response; other responses have been thrown as a Problem. */
export const body = async <T>(answer: Promise<{ data?: T }>): Promise<T> => (await answer).data as T;

interface Page<T> {
  items: T[];
  next_cursor?: string | null;
}

/** The items of all pages of a list. */
export async function everyPage<T>(page: (cursor: { cursor?: string }) => Promise<Page<T>>): Promise<T[]> {
  const found: T[] = [];
  let cursor: string | null | undefined;
  do {
    const { items, next_cursor: next } = await page(cursor ? { cursor } : {});
    found.push(...items);
    cursor = next;
  } while (cursor);
  return found;
}
