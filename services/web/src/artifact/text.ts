// The text of an artifact in the editor, byte for byte, and positions as the API counts them. Pure.
import { EditorState, type Extension, Text } from '@codemirror/state';
import { EditorView } from '@codemirror/view';

/** A position in the text, counted in characters (code points); a line ending counts as written. */
export interface Span {
  start: number;
  end: number;
  text: string;
}

/** Returns the line ending that all lines share, otherwise \n; other endings then count as characters of a line. */
export function separatorOf(...texts: string[]): string {
  const marks = new Set(texts.flatMap((text) => text.match(/\r\n|\r|\n/g) ?? []));
  return marks.size === 1 ? [...marks][0]! : '\n';
}

/** Editor settings that preserve the text exactly; pasted text gets the text's line endings. */
export const kept = (separator: string): Extension => [
  EditorState.lineSeparator.of(separator),
  EditorView.clipboardInputFilter.of((pasted) => pasted.replace(/\r\n|\r|\n/g, separator)),
];

/** Returns a text with this line ending in the editor's form. */
export const linesOf = (text: string, separator: string): Text => Text.of(text.split(separator));

/** Returns the number of code points, as Python counts; JavaScript counts those beyond the BMP twice. */
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
