// Places with given words in rendered text, marked without changing the text.
import { MOST_PLACES } from './finder';

const NAMES = ['found', 'found-here'] as const;

/** Returns the places in the blocks of an element, in order; a place does not reach over a block's end. */
export function placesIn(element: Element, words: string): Range[] {
  const wanted = words.toLowerCase();
  const found: Range[] = [];
  if (!wanted) return found;
  for (const block of element.children) {
    const nodes = textsOf(block);
    const text = nodes.map(({ data }) => lower(data)).join('');
    let at = text.indexOf(wanted);
    while (at >= 0 && found.length < MOST_PLACES) {
      found.push(range(nodes, at, at + wanted.length));
      at = text.indexOf(wanted, at + wanted.length);
    }
  }
  return found;
}

/** In lower case, with every character at its place. */
const lower = (text: string): string => {
  const folded = text.toLowerCase();
  return folded.length === text.length ? folded : text;
};

function textsOf(block: Element): Text[] {
  const walker = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
  const nodes: Text[] = [];
  while (walker.nextNode()) nodes.push(walker.currentNode as Text);
  return nodes;
}

function range(nodes: readonly Text[], from: number, to: number): Range {
  const found = new Range();
  let begin = 0;
  for (const node of nodes) {
    const end = begin + node.data.length;
    if (from >= begin && from < end) found.setStart(node, from - begin);
    if (to > begin && to <= end) found.setEnd(node, to - begin);
    begin = end;
  }
  return found;
}

/** Marks all places, and one of them as the present one, which is scrolled to. */
export function mark(places: readonly Range[], present: Range | undefined): void {
  const [all, one] = NAMES;
  CSS.highlights.set(all, new Highlight(...places));
  CSS.highlights.set(one, new Highlight(...(present ? [present] : [])));
  const block = present?.startContainer.parentElement;
  block?.scrollIntoView({ block: 'nearest' }); // what is out of sight has no layout
  if (!present || !block) return;
  requestAnimationFrame(() => {
    const view = block.closest<HTMLElement>('[data-scrolls]')!;
    view.scrollTop += present.getBoundingClientRect().top - view.getBoundingClientRect().top - view.clientHeight / 3;
  });
}

export const unmark = (): void => {
  for (const name of NAMES) CSS.highlights.delete(name);
};
