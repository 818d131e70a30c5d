import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { unifiedMergeView } from '@codemirror/merge';
import { Compartment, EditorState, type Extension } from '@codemirror/state';
import { EditorView, highlightSpecialChars, keymap } from '@codemirror/view';
import { useEffect, useRef } from 'react';
import { t } from '../i18n';
import { loadLanguage } from './languages';
import { appearance, codeAppearance, markdown } from './markdown-language';
import { kept, linesOf, type Span, selected, separatorOf } from './text';

interface Props {
  text: string;
  label: string;
  isCode: boolean;
  language?: string | null | undefined;
  /** Another text; differences from it are marked. */
  compareWith?: string | undefined;
  /** Without it, the text is read-only. */
  onChange?: ((text: string) => void) | undefined;
  onSelect?: (span: Span | undefined) => void;
  onSave?: () => void;
}

/** The text, byte for byte. Use another key for another text. Tab leaves the field, for keyboard users. */
export default function Editor(props: Props) {
  const place = useRef<HTMLDivElement>(null);
  const now = useRef(props);
  now.current = props;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the editor owns the text from here on
  useEffect(() => {
    const language = new Compartment();
    const editor = new EditorView({ parent: place.current!, state: stateOf(now, language) });
    let gone = false;
    if (props.isCode)
      loadLanguage(props.language)?.then(
        (loaded) => gone || editor.dispatch({ effects: language.reconfigure(loaded) }),
        () => undefined, // stays plain text
      );
    return () => {
      gone = true;
      editor.destroy();
    };
  }, []);
  return <div ref={place} data-code={props.isCode} />;
}

function stateOf(now: { current: Props }, language: Compartment): EditorState {
  const { text, label, isCode, compareWith, onChange } = now.current;
  const separator = separatorOf(text, ...(compareWith === undefined ? [] : [compareWith]));
  const save = () => {
    now.current.onSave?.();
    return true;
  };
  return EditorState.create({
    doc: linesOf(text, separator),
    extensions: [
      kept(separator),
      history(),
      highlightSpecialChars(),
      keymap.of([{ key: 'Mod-s', run: save, preventDefault: true }, ...defaultKeymap, ...historyKeymap]),
      isCode ? codeAppearance : [markdown, appearance],
      language.of([]),
      compareWith === undefined ? [] : comparison(compareWith, separator, Boolean(onChange)),
      onChange ? [] : EditorState.readOnly.of(true),
      EditorView.cspNonce.of(document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? ''),
      EditorState.phrases.of({ '$ unchanged lines': t('unchangedLines') }),
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: String(!isCode) }),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) now.current.onChange?.(update.state.sliceDoc());
        if (update.docChanged || update.selectionSet) now.current.onSelect?.(selected(update.state));
      }),
    ],
  });
}

const comparison = (original: string, separator: string, isOpen: boolean): Extension =>
  unifiedMergeView({
    original: linesOf(original, separator),
    mergeControls: isOpen ? mergeControls : false,
    collapseUnchanged: { margin: 3, minSize: 8 },
  });

function mergeControls(type: 'accept' | 'reject', act: (event: MouseEvent) => void): HTMLElement {
  const button = document.createElement('button');
  button.textContent = t(type === 'accept' ? 'keepMine' : 'takeTheirs');
  button.onclick = act;
  return button;
}
