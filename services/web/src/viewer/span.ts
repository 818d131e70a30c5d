// Where a quote stands in its passage. Pure; positions count characters (code points), as the API does.
import type { Schemas } from '../api/client';

export type Span = readonly [start: number, end: number];

/** The span that the citation names; without one the quote's first place in the passage, or nothing. */
export function spanOf(
  { start, end, quote }: Pick<Schemas['Citation'], 'start' | 'end' | 'quote'>,
  content: string,
): Span {
  if (end > start) return [start, end];
  const at = quote ? content.indexOf(quote) : -1;
  if (at < 0) return [0, 0];
  const from = Array.from(content.slice(0, at)).length;
  return [from, from + Array.from(quote).length];
}
