import { useEffect, useRef, useState } from 'react';
import { Button } from 'react-aria-components';
import type { Writing } from '../chat/turn';
import { t } from '../i18n';
import style from './artifact.module.css';
import { type Artifact, putArtifact, useArtifact, useVersion } from './artifacts';
import { Old } from './Old';
import { type View, Write } from './Write';
import type { Wish } from './wishes';

const EMPTY = { kind: 'markdown', language: null, title: null, text: '' } as const;

interface Props {
  sessionId: string;
  /** The version in the URL; without it, the current one. */
  index: number | undefined;
  /** The text that the current run has written so far. */
  writing: Writing | undefined;
  busy: boolean;
  hidden: boolean;
  takesFocus: boolean;
  onAsk: (content: string, wish: Wish) => void;
  onOpen: (index?: number) => void;
  onClose: () => void;
}

/** The artifact beside the conversation: to edit, preview, compare, and have changed. */
export default function ArtifactPanel(props: Props) {
  const { sessionId, index, writing, hidden, onClose, onOpen } = props;
  const artifact = useArtifact(sessionId);
  const old = useVersion(sessionId, index);
  const [view, setView] = useState<View>('write');
  const heading = useRef<HTMLHeadingElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only where the panel was opened by hand
  useEffect(() => void (props.takesFocus && heading.current?.focus()), [index]);
  const current = artifact.data;
  const error = artifact.error ?? (index === undefined ? null : old.error);
  return (
    <aside className={style.panel} aria-label={t('artifact')} hidden={hidden}>
      <header className={style.head}>
        <h2 ref={heading} tabIndex={-1}>
          {current?.title ?? t('artifact')}
          {current && <small>{t('versionOf', { version: index ?? current.index })}</small>}
        </h2>
        <Button onPress={onClose}>{t('close')}</Button>
      </header>
      {writing && <Streamed writing={writing} />}
      {current === undefined && <p role="status">{error?.message ?? t('loading')}</p>}
      {current === null && !writing && <Begin sessionId={sessionId} onBegun={() => artifact.refetch()} />}
      {current && index !== undefined && (
        <Old sessionId={sessionId} current={current} old={old.data} error={old.error?.message} onOpen={onOpen} />
      )}
      {current && (
        <div className={style.body} hidden={index !== undefined}>
          <Write
            key={current.id}
            artifact={current}
            view={view}
            onView={setView}
            onOpen={onOpen}
            sessionId={sessionId}
            busy={props.busy}
            onAsk={props.onAsk}
          />
        </div>
      )}
    </aside>
  );
}

function Streamed({ writing }: { writing: Writing }) {
  return (
    <section className={style.streamed} aria-label={t('beingWritten')} aria-busy tabIndex={0}>
      <p>{t('beingWritten')}</p>
      <pre>{writing.text}</pre>
    </section>
  );
}

function Begin({ sessionId, onBegun }: { sessionId: string; onBegun: () => void }) {
  const [error, setError] = useState<string>();
  const begin = (kind: Artifact['kind']) =>
    putArtifact(sessionId, { ...EMPTY, kind }).then(onBegun, (reason: Error) => setError(reason.message));
  return (
    <div className={style.begin}>
      <p>{t('noArtifact')}</p>
      <div>
        <Button onPress={() => begin('markdown')}>{t('beginText')}</Button>
        <Button onPress={() => begin('code')}>{t('beginCode')}</Button>
      </div>
      <p role="alert">{error}</p>
    </div>
  );
}
