// From a passage's box (points from the page's upper left corner) and a quote to rectangles on the page. Pure.

export interface Rectangle {
  left: number;
  top: number;
  width: number;
  height: number;
}

export type Box = readonly [left: number, top: number, right: number, bottom: number];

/** A run of text on the page, with its rectangle in the same units as the box. */
export interface TextRun extends Rectangle {
  text: string;
}

/** A rectangle as shares of the page's width and height, so that it fits the page at any size. */
export const share = (points: Rectangle, width: number, height: number): Rectangle => ({
  left: points.left / width,
  top: points.top / height,
  width: points.width / width,
  height: points.height / height,
});

/** A line of the passage on a page: characters `start` to `end` of the passage. */
export interface LineBox {
  page: number;
  box: readonly number[]; // a Box: the client's types turn the tuple into a list
  start: number;
  end: number;
}

/**
 * Returns the rectangles of the lines that characters `from` to `to` are on, for pages without text. The first and last
 * line are cut in proportion to their characters.
 */
export function linesOf(boxes: readonly LineBox[], from: number, to: number): (Rectangle & { page: number })[] {
  return boxes.flatMap(({ page, box, start, end }) => {
    const [left, top, right, bottom] = box as Box;
    const first = Math.max(from, start);
    const last = Math.min(to, end);
    if (first >= last) return [];
    const width = (right - left) / (end - start);
    return [{ page, left: left + (first - start) * width, top, width: (last - first) * width, height: bottom - top }];
  });
}

/** Returns the rectangle around the lines of a page, if it has any. */
export function around(boxes: readonly LineBox[], page: number): Box | undefined {
  const sides = boxes.filter((line) => line.page === page).map((line) => line.box);
  if (!sides.length) return undefined;
  const of = (side: number) => sides.map((box) => box[side]!);
  return [Math.min(...of(0)), Math.min(...of(1)), Math.max(...of(2)), Math.max(...of(3))];
}

/** Differences between a converter's text and the page's: spaces, hyphens and dashes, ligatures, quotation marks. */
const fold = (text: string) =>
  text
    .normalize('NFKC')
    .replace(/[\u2018-\u201b\u2032`]/g, "'")
    .replace(/[\u201c-\u201f\u2033]|''/g, '"')
    .replace(/[\s\u00ad\u2010-\u2015\u2212\ufffe-]+/g, '')
    .toLowerCase();

/**
 * Returns the rectangles of a quote within the runs inside a box; none unless the whole quote is found, so that no other
 * sentence is ever marked.
 */
export const locate = (quote: string, runs: readonly TextRun[], box?: Box): Rectangle[] =>
  locateAll(quote, box ? runs.filter((run) => overlaps(run, box)) : runs, 1)[0] ?? [];

/**
 * Returns the rectangles of each place with these words, at most so many places. The first and last run of a place are
 * cut in proportion to their characters.
 */
export function locateAll(words: string, runs: readonly TextRun[], most: number): Rectangle[][] {
  const starts: number[] = [];
  let page = '';
  for (const run of runs) {
    starts.push(page.length);
    page += fold(run.text);
  }
  const wanted = fold(words);
  const places: Rectangle[][] = [];
  let from = wanted ? page.indexOf(wanted) : -1;
  while (from >= 0 && places.length < most) {
    const to = from + wanted.length;
    places.push(cut(runs, starts, page.length, from, to));
    from = page.indexOf(wanted, to);
  }
  return places;
}

/** Returns the rectangles of the characters from one to another of the page. */
function cut(runs: readonly TextRun[], starts: readonly number[], length: number, from: number, to: number) {
  return runs.flatMap((run, index) => {
    const begin = starts[index]!;
    const own = (starts[index + 1] ?? length) - begin;
    const first = Math.max(from - begin, 0);
    const last = Math.min(to - begin, own);
    if (own === 0 || first >= last) return [];
    const width = run.width / own;
    return [{ left: run.left + first * width, top: run.top, width: (last - first) * width, height: run.height }];
  });
}

function overlaps(run: TextRun, [left, top, right, bottom]: Box): boolean {
  const middle = run.top + run.height / 2;
  return middle >= top - 2 && middle <= bottom + 2 && run.left < right + 2 && run.left + run.width > left - 2;
}
