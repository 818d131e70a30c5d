import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Button, ToggleButton } from 'react-aria-components';
import { useModel } from '../api/use-model';
import { t } from '../i18n';
import style from './artifact.module.css';
import { type Artifact, redo, undo } from './artifacts';
import { Decide } from './Decide';
import { Export } from './Export';
import { LazyEditor } from './LazyEditor';
import { Options } from './Options';
import { Preview } from './Preview';
import { Rewrite } from './Rewrite';
import type { Span } from './text';
import { useDraft } from './use-draft';
import { Versions } from './Versions';
import type { Wish } from './wishes';

const VIEWS = ['write', 'preview', 'versions'] as const;
export type View = (typeof VIEWS)[number];
const STATES = { saved: 'stateSaved', changed: 'stateChanged', saving: 'stateSaving', failed: 'stateFailed' } as const;

interface Props {
  sessionId: string;
  artifact: Artifact;
  view: View;
  busy: boolean;
  onView: (view: View) => void;
  onAsk: (content: string, wish: Wish) => void;
  onOpen: (index: number) => void;
}

/** The current version in the editor, with its actions. */
export function Write({ sessionId, artifact, view, busy, onView, onAsk, onOpen }: Props) {
  const client = useQueryClient();
  const draft = useDraft(sessionId, artifact);
  const hasModel = useModel() === true;
  const [span, setSpan] = useState<Span>();
  const [failed, setFailed] = useState<string>();
  const [typed, setTyped] = useState(draft.text);
  const { base, conflict } = draft;
  const isCode = base.kind === 'code';
  const isFixed = base.kind === 'pdf';

  /** Applies a change to the saved artifact, and shows the result. */
  const change = async (act: (version: number, latest: Artifact) => Promise<Artifact>) => {
    setFailed(undefined);
    if (!(await draft.save())) return;
    try {
      const next = await act(draft.latest().version, draft.latest());
      client.setQueryData(['artifact', sessionId], next);
    } catch (reason) {
      setFailed((reason as Error).message);
      await client.invalidateQueries({ queryKey: ['artifact', sessionId] });
    }
  };
  const saved = async () => (isFixed || (await draft.save()) ? draft.latest() : undefined);
  const ask = async (content: string, wish: (index: number) => Wish) => {
    if (await draft.save()) onAsk(content, wish(draft.latest().index));
  };
  if (conflict)
    return <Decide conflict={conflict} base={base} error={draft.error} onType={draft.type} onDecide={draft.decide} />;
  return (
    <>
      <div className={style.tools}>
        <fieldset aria-label={t('view')}>
          {VIEWS.filter((each) => each !== 'preview' || !isCode).map((each) => (
            <ToggleButton
              key={each}
              isSelected={view === each}
              onChange={() => {
                setTyped(draft.typed());
                onView(each);
              }}
            >
              {t(each === 'write' ? 'viewWrite' : each === 'preview' ? 'viewPreview' : 'viewVersions')}
            </ToggleButton>
          ))}
        </fieldset>
        {!isFixed && (
          <fieldset aria-label={t('changes')}>
            <Button isDisabled={base.parent_index === null} onPress={() => change((at) => undo(sessionId, at))}>
              {t('undo')}
            </Button>
            <Button isDisabled={base.index === base.last_index} onPress={() => change((at) => redo(sessionId, at))}>
              {t('redo')}
            </Button>
            {hasModel && (
              <Rewrite isCode={isCode} isDisabled={busy} onAsk={(content, wish) => ask(content, () => wish)} />
            )}
          </fieldset>
        )}
        {!isFixed && <Options sessionId={sessionId} artifact={base} onChange={change} onLatest={saved} />}
        <Export sessionId={sessionId} onLatest={saved} />
        <span role="status" className={style.quiet}>
          {isFixed ? t('onlyRead') : t(STATES[draft.state])}
        </span>
      </div>
      <p role="alert">{draft.error ?? failed}</p>
      <div className={style.body} hidden={view !== 'write'}>
        <LazyEditor
          key={draft.revision}
          text={draft.text}
          label={t('artifactText')}
          isCode={isCode}
          language={base.language}
          onChange={isFixed ? undefined : draft.type}
          onSelect={setSpan}
          onSave={draft.save}
        />
        {span && hasModel && !isFixed && (
          <Marked
            span={span}
            busy={busy}
            onAsk={(content) => ask(content, (version) => ({ highlight: { version, ...span } }))}
          />
        )}
      </div>
      {view === 'preview' && <Preview text={typed} />}
      {view === 'versions' && <Versions sessionId={sessionId} current={base} onOpen={onOpen} />}
    </>
  );
}

interface MarkedProps {
  span: Span;
  busy: boolean;
  onAsk: (content: string) => void;
}

/** Asks how to change the selected text. */
function Marked({ span, busy, onAsk }: MarkedProps) {
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const content = String(new FormData(event.currentTarget).get('wish')).trim();
    if (!content || busy) return;
    event.currentTarget.reset();
    onAsk(content);
  };
  return (
    <form className={style.marked} onSubmit={submit}>
      <label>
        {t('highlightAsk')}
        <q>{span.text.length > 80 ? `${span.text.slice(0, 80)}…` : span.text}</q>
        <input name="wish" maxLength={10_000} />
      </label>
      <Button type="submit" isDisabled={busy}>
        {t('send')}
      </Button>
    </form>
  );
}
