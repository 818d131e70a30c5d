// Why a document is not among what was found: its state, the filters, or its rank. Pure.
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
  name: (typeof FACETS)[number]['name'];
  wanted: string[];
  has: string[];
}

/** The chosen filters that the document does not pass, with what it has instead. */
export function filteredOut(address: URLSearchParams, document: Document): Filtered[] {
  return FACETS.map(({ facet, name }) => ({ name, wanted: address.getAll(facet), has: FIELD[facet](document) })).filter(
    ({ wanted, has }) => wanted.length > 0 && !has.some((value) => wanted.includes(value)),
  );
}

/** The place of the document's first passage among all that was found, from 1; undefined if it is not among them. */
export function placeOf(documentId: string, { hits }: Pick<Found, 'hits'>): number | undefined {
  const place = hits.findIndex(
    (hit) => hit.document_id === documentId || (hit.duplicates ?? []).some((each) => each.document_id === documentId),
  );
  return place < 0 ? undefined : place + 1;
}

/** Whether a passage of the document stands for it only because its text is nearly the same in another one. */
export const isFolded = (documentId: string, { hits }: Pick<Found, 'hits'>): string | undefined =>
  hits.find(
    (hit) => hit.document_id !== documentId && (hit.duplicates ?? []).some((each) => each.document_id === documentId),
  )?.document_name;
