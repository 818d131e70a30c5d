// The text of an artifact in the editor, byte for byte, and its places as the API counts them. Pure.
import { EditorState, type Extension, Text } from '@codemirror/state';
import { EditorView } from '@codemirror/view';

/** A place in the text: positions count characters (code points), a line end as it is written. */
export interface Span {
  start: number;
  end: number;
  text: string;
}

/** What ends the lines: the one mark that all of them have, otherwise \n, and other marks are characters of a line. */
export function separatorOf(...texts: string[]): string {
  const marks = new Set(texts.flatMap((text) => text.match(/\r\n|\r|\n/g) ?? []));
  return marks.size === 1 ? [...marks][0]! : '\n';
}

/** The settings with which the editor gives back the text as it came; what is pasted gets the text's line ends. */
export const kept = (separator: string): Extension => [
  EditorState.lineSeparator.of(separator),
  EditorView.clipboardInputFilter.of((pasted) => pasted.replace(/\r\n|\r|\n/g, separator)),
];

/** A text as the editor holds it whose lines have this end. */
export const linesOf = (text: string, separator: string): Text => Text.of(text.split(separator));

/** The characters of a text as Python counts them; JavaScript counts those beyond the first plane twice. */
export function characters(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

/** The selected span, or nothing. */
export function selected(state: EditorState): Span | undefined {
  const { from, to, empty } = state.selection.main;
  if (empty) return undefined;
  const start = characters(state.sliceDoc(0, from));
  const text = state.sliceDoc(from, to);
  return { start, end: start + characters(text), text };
}
