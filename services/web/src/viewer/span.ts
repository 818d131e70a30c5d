// The position of a quote in its passage. Pure; positions count characters (code points), as in the API.
import type { Schemas } from '../api/client';

export type Span = readonly [start: number, end: number];

/** The span in the citation; otherwise the quote's first occurrence in the passage, if any. */
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
