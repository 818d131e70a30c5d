import { EditorState } from '@codemirror/state';
import { expect, test } from 'vitest';
import { kept, linesOf, selected, separatorOf } from '../../src/artifact/text';

const TEXTS = [
  '',
  '\n',
  'no line end',
  'one\n',
  'one\r\ntwo\r\n',
  'one\r\ntwo',
  'old\rMac\r',
  'mixed\r\nends\nhere\r',
  '\n\n\n',
  '\r\n\r\n',
  'trailing spaces  \nand a tab\t\n',
  '\tindented\n\t\ttwice\n',
  '\u{1F469}\u200D\u{1F4BB} writes \u{1F600}\n',
  'e\u0301 is not é\n',
  'line\u2028separator\u2029paragraph\u0085next\n',
  '\uFEFFbyte order mark\n',
  'soft\u00ADhyphen, zero\u200Bwidth, bidi \u202Eabc\u202C\n',
  'control \u0007\u001B[0m\n',
  '| a | b \\| c |\n|---|:-:|\n| 1 | `x|y` |\n',
  '* one\n+ two\n- three\n1) four\n',
  'Heading\n===\n\n# Another #\n',
  '---\ntitle: "x"\n---\ntext\n',
  '<details>\n<summary>A</summary>\n\n*b*\n</details>\n',
  '[ref]: <http://example.org> "title"\n\n[a][ref] [^1]\n\n[^1]: note\n',
  '$$\n\\int_0^1\n$$\n',
  '&amp; &nbsp; &#42; \\* \\_\n',
  '```js\nconst a = `b`;\r\n```\n',
  '~~~\nunclosed',
  'a\\\nb  \nc\n',
  '- [ ] task\n- [x] done\n',
  '> quote\n>> deeper\nlazy\n',
  `${'long '.repeat(5_000)}\n`,
  'x\n'.repeat(5_000),
  'print("a")\r\n\r\n\tif x:\r\n\t\tpass\r\n',
  'עברית العربية 中文 한국어\n',
  '__a__ **b** _c_ *d* ***e***\n',
  'a\n\n\n\nb',
];

const stateOf = (text: string) => {
  const separator = separatorOf(text);
  return EditorState.create({ doc: linesOf(text, separator), extensions: kept(separator) });
};

test.each(TEXTS)('the editor gives back what it was given: %j', (text) => {
  expect(stateOf(text).sliceDoc()).toBe(text);
});

test.each(TEXTS)('a change leaves every other byte: %j', (text) => {
  const state = stateOf(text);
  for (const at of [0, Math.floor(state.doc.length / 2), state.doc.length]) {
    const before = state.sliceDoc(0, at);
    const changed = state.update({ changes: { from: at, insert: 'new' } }).state.sliceDoc();
    expect(changed).toBe(`${before}new${text.slice(before.length)}`);
  }
});

test('a new line ends as the others do', () => {
  const state = stateOf('one\r\ntwo\r\n');
  const changed = state.update({ changes: { from: 3, insert: state.toText('\r\nand') } }).state;
  expect(changed.sliceDoc()).toBe('one\r\nand\r\ntwo\r\n');
});

test.each(TEXTS)('a selection has the places that the API counts: %j', (text) => {
  const state = stateOf(text);
  const lines = state.doc.lines;
  const from = state.doc.line(Math.ceil(lines / 2)).from;
  const before = state.sliceDoc(0, from);
  const span = selected(state.update({ selection: { anchor: from, head: state.doc.length } }).state);
  if (before === text) expect(span).toBeUndefined();
  else {
    const all = Array.from(text); // code points
    expect(all.slice(span!.start, span!.end).join('')).toBe(span!.text);
    expect(before + span!.text).toBe(text);
  }
});

test('characters beyond the first plane count once, a line end as it is written', () => {
  const state = stateOf('\u{1F600}\u{1F600}\r\nab\r\n');
  const span = selected(state.update({ selection: { anchor: 5, head: 7 } }).state); // \r\n is one position in the editor
  expect(span).toEqual({ start: 4, end: 6, text: 'ab' });
});
