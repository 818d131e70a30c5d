// A document that is named with @ in a question. Pure, but for the tab's storage.

/** Where an @ begins, and what was typed after it. */
export interface Mention {
  from: number;
  words: string;
}

/** A document that an answer may draw on. */
export interface NamedDocument {
  id: string;
  name: string;
}

export const MOST_DOCUMENTS = 20;
const LONGEST = 100;

/** The @ being typed before the caret, at the start of a word; undefined if there is none. */
export function mentionAt(text: string, caret: number): Mention | undefined {
  const from = caret === 0 ? -1 : text.lastIndexOf('@', caret - 1);
  if (from < 0 || caret - from > LONGEST || /[^\s(]/.test(text.charAt(from - 1))) return undefined;
  const words = text.slice(from + 1, caret);
  return /\s/.test(words) ? undefined : { from, words };
}

/** The text without the mention, and where the caret is then. */
export const without = (text: string, { from, words }: Mention): string =>
  text.slice(0, from) + text.slice(from + 1 + words.length).replace(/^ /, '');

/** The documents with one more, each once. */
export const withDocument = (chosen: readonly NamedDocument[], { id, name }: NamedDocument): NamedDocument[] =>
  chosen.some((each) => each.id === id) || chosen.length === MOST_DOCUMENTS ? [...chosen] : [...chosen, { id, name }];
