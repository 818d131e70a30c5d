// Why a document is not among the results: its state, the filters, or its rank. Pure.
import type { Schemas } from '../api/client';
import { FACETS } from './wanted';

type Document = Schemas['DocumentDetail'];
type Found = Schemas['SearchResponse'];
const FIELD = {
  media_type: ({ media_type: type }: Document) => [type],
  language: ({ language }: Document) => (language ? [language] : []),
  source_type: ({ source_type: type }: Document) => [type],
  tag: ({ tags }: Document) => tags,
} satisfies Record<(typeof FACETS)[number]['facet'], (document: Document) => string[]>;

export interface Filtered {
  facet: (typeof FACETS)[number]['facet'];
  name: (typeof FACETS)[number]['name'];
  wanted: string[];
  has: string[];
}

/** The chosen filters that the document does not pass, with its own values. */
export function filteredOut(address: URLSearchParams, document: Document): Filtered[] {
  return FACETS.map(({ facet, name }) => ({
    facet,
    name,
    wanted: address.getAll(facet),
    has: FIELD[facet](document),
  })).filter(({ wanted, has }) => wanted.length > 0 && !has.some((value) => wanted.includes(value)));
}

/** The rank of the document's best passage among all results, from 1; undefined if it is not among them. */
export function placeOf(documentId: string, { hits }: Pick<Found, 'hits'>): number | undefined {
  const place = hits.findIndex(
    (hit) => hit.document_id === documentId || (hit.duplicates ?? []).some((each) => each.document_id === documentId),
  );
  return place < 0 ? undefined : place + 1;
}

/** Returns the name of the document that stands for this one as its near-duplicate; undefined if there is none. */
export const isFolded = (documentId: string, { hits }: Pick<Found, 'hits'>): string | undefined =>
  hits.find(
    (hit) => hit.document_id !== documentId && (hit.duplicates ?? []).some((each) => each.document_id === documentId),
  )?.document_name;
