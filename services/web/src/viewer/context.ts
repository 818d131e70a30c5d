// A passage and its quote in the whole Markdown of their document. Pure.
import type { Schemas } from '../api/client';

/** Offsets in UTF-16 units. */
export type Stretch = readonly [start: number, end: number];

/** Where the API says that the passage stands, in characters (code points); nothing if that could not be told. */
export function placeOf(
  markdown: string,
  { markdown_start: start, markdown_end: end }: Pick<Schemas['Chunk'], 'markdown_start' | 'markdown_end'>,
): Stretch | undefined {
  if (start == null || end == null) return undefined;
  const from = unitsOf(markdown, start);
  return [from, from + unitsOf(markdown.slice(from), end - start)];
}

/** How many UTF-16 units so many characters at the beginning of a text are. */
function unitsOf(text: string, characters: number): number {
  let units = 0;
  for (let left = characters; left > 0 && units < text.length; left--)
    units += text.codePointAt(units)! > 0xffff ? 2 : 1;
  return units;
}

/** A quote's first place in a stretch: letter by letter, or else one that differs in spaces and marks alone. */
export function quoteIn(text: string, [start, end]: Stretch, quote: string): Stretch | undefined {
  const wanted = quote.trim();
  const part = text.slice(start, end);
  const at = wanted ? part.indexOf(wanted) : -1;
  if (at >= 0) return [start + at, start + at + wanted.length];
  const { letters, places } = lettersOf(part);
  const folded = lettersOf(wanted).letters;
  const found = folded ? letters.indexOf(folded) : -1;
  return found < 0 ? undefined : [start + places[found]!, start + places[found + folded.length - 1]! + 1];
}

/** The letters and digits of a text, and where each of them stands. */
function lettersOf(text: string): { letters: string; places: number[] } {
  const letters: string[] = [];
  const places: number[] = [];
  for (const found of text.matchAll(/[\p{L}\p{N}]/gu)) {
    for (let unit = 0; unit < found[0].length; unit++) {
      letters.push(found[0].charAt(unit));
      places.push(found.index + unit);
    }
  }
  return { letters: letters.join(''), places };
}

/** The stretch from the beginning of its first line to the end of its last one. */
export function wholeLines(text: string, [start, end]: Stretch): Stretch {
  const stop = text.indexOf('\n', Math.max(end - 1, start));
  return [text.lastIndexOf('\n', start - 1) + 1, stop < 0 ? text.length : stop];
}

const LINES = 200;

/** A text in blocks of so many lines, each without its last line break. */
export function blocksOf(text: string): string[] {
  if (!text) return [];
  const lines = text.split('\n');
  const count = Math.ceil(lines.length / LINES);
  return Array.from({ length: count }, (_, n) => lines.slice(n * LINES, (n + 1) * LINES).join('\n'));
}
