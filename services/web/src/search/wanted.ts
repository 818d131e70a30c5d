// A search as stored in the URL, and as a request to the API. Pure.
import type { Schemas } from '../api/client';
import type { Key } from '../i18n';

export type Mode = Schemas['SearchMode'];
export const MODES = {
  hybrid: 'modeHybrid',
  lexical: 'modeLexical',
  dense: 'modeDense',
  rrf: 'modeRrf',
  convex: 'modeConvex',
} as const satisfies Record<Mode, Key>;

/** The facets that can be chosen, with the names of their filters in a request and in the URL. */
export const FACETS = [
  { facet: 'media_type', filter: 'media_types', name: 'facetMediaType' },
  { facet: 'language', filter: 'languages', name: 'facetLanguage' },
  { facet: 'source_type', filter: 'source_types', name: 'facetSourceType' },
  { facet: 'tag', filter: 'tags', name: 'facetTag' },
] as const satisfies { facet: Schemas['Facet']; filter: keyof Schemas['SearchRequest']; name: Key }[];

export const MOST_HITS = 20;
const isMode = (value: string | null): value is Mode => value !== null && Object.hasOwn(MODES, value);

/** The mode in the URL; without one, the workspace's setting applies. */
export const modeOf = (address: URLSearchParams): Mode | undefined => {
  const mode = address.get('mode');
  return isMode(mode) ? mode : undefined;
};

export function request(address: URLSearchParams): Schemas['SearchRequest'] {
  const filters = FACETS.map(({ facet, filter }) => [filter, address.getAll(facet)] as const);
  const mode = modeOf(address);
  return {
    query: address.get('q') ?? '',
    k: MOST_HITS,
    explain: true,
    highlight: true,
    facets: FACETS.map(({ facet }) => facet),
    ...(mode && { mode }),
    ...Object.fromEntries(filters.filter(([, values]) => values.length > 0)),
  };
}

/** The hit as a citation, which the source panel opens at the best matching words. */
export function cited(hit: Schemas['Hit'], number: number): Schemas['Citation'] {
  const [best] = [...(hit.highlights ?? [])].sort((one, other) => other.score - one.score);
  const characters = Array.from(hit.content);
  const { start, end } = best ?? { start: 0, end: characters.length };
  return {
    number,
    chunk_id: hit.chunk_id,
    document_id: hit.document_id,
    document_name: hit.document_name,
    document_title: hit.document_title,
    quote: characters.slice(start, end).join(''),
    start,
    end,
    page: hit.page,
    section: hit.section_title,
    line_start: hit.line_start,
    line_end: hit.line_end,
  };
}

export interface Piece {
  text: string;
  marked: boolean;
}

/** The content in pieces, with those that match the query marked; positions count characters (code points). */
export function pieces(content: string, highlights: readonly Schemas['Highlight'][]): Piece[] {
  const characters = Array.from(content);
  const found: Piece[] = [];
  let at = 0;
  const push = (to: number, marked: boolean) => {
    if (to > at) found.push({ text: characters.slice(at, to).join(''), marked });
    at = Math.max(at, to);
  };
  for (const { start, end } of [...highlights].sort((one, other) => one.start - other.start)) {
    push(start, false);
    push(end, true);
  }
  push(characters.length, false);
  return found;
}
