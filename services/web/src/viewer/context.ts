// A passage and its quote in the whole Markdown of their document. Pure; offsets are UTF-16 units of the Markdown.

export type Stretch = readonly [start: number, end: number];

/** Where the passage stands, and its quote, if they are found whole. */
export interface InContext {
  passage: Stretch;
  quote: Stretch | undefined;
}

/**
 * Looks for the passage, and in it for the quote. `share` says about where in the document it is (0 to 1), which
 * decides between repetitions.
 */
export function inContext(markdown: string, passage: string, quote: string, share: number): InContext | undefined {
  const places = stretchesOf(passage, markdown);
  const near = share * markdown.length;
  const [place] = places.sort(([one], [other]) => Math.abs(one - near) - Math.abs(other - near));
  if (!place) return undefined;
  const [start, end] = place;
  const [within] = stretchesOf(quote, markdown.slice(start, end));
  return { passage: place, quote: within && [start + within[0], start + within[1]] };
}

/** All places of a text; if there are none letter by letter, those that differ in spaces and marks alone. */
function stretchesOf(text: string, markdown: string): Stretch[] {
  const wanted = text.trim();
  if (!wanted) return [];
  const exact = allOf(wanted, markdown).map((at) => [at, at + wanted.length] as const);
  if (exact.length > 0) return exact;
  const { letters, places } = lettersOf(markdown);
  const folded = lettersOf(wanted).letters;
  if (!folded) return [];
  return allOf(folded, letters).map((at) => [places[at]!, places[at + folded.length - 1]! + 1] as const);
}

function allOf(wanted: string, text: string): number[] {
  const found: number[] = [];
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) found.push(at);
  return found;
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
