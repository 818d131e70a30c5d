import { useState } from 'react';
import { Button } from 'react-aria-components';
import { t, when } from '../i18n';
import { Choice } from '../shell/Choice';
import style from './artifact.module.css';
import { type Artifact, useVersion, useVersions } from './artifacts';
import { LazyEditor } from './LazyEditor';

const EVENTS = {
  create: 'eventCreate',
  update: 'eventUpdate',
  rewrite: 'eventRewrite',
  patch: 'eventPatch',
  restore: 'eventRestore',
} as const;

interface Props {
  sessionId: string;
  current: Artifact;
  onOpen: (index: number) => void;
}

/** All versions, newest first; any two can be compared. */
export function Versions({ sessionId, current, onOpen }: Props) {
  const { data = [], error } = useVersions(sessionId, current.version);
  const [from, setFrom] = useState(current.parent_index ?? current.index);
  const [to, setTo] = useState(current.index);
  const options = data.map(({ index }) => ({ value: String(index), name: t('versionOf', { version: index }) }));
  return (
    <section className={style.versions} tabIndex={0} aria-label={t('viewVersions')}>
      <p role="alert">{error?.message}</p>
      <div className={style.compare}>
        <Choice
          label={t('compareFrom')}
          value={String(from)}
          options={options}
          onChange={(to) => setFrom(Number(to))}
        />
        <Choice label={t('compareTo')} value={String(to)} options={options} onChange={(to) => setTo(Number(to))} />
      </div>
      <Comparison sessionId={sessionId} from={from} to={to} />
      <ol>
        {data.map((version) => (
          <li key={version.index}>
            <span>
              <b>{t('versionOf', { version: version.index })}</b> {t(EVENTS[version.event])},{' '}
              {t(version.run_id ? 'byAssistant' : 'byHand')}, {when(version.created_at)}
              {version.kept_aside && ` · ${t('keptAside')}`}
              {version.index === current.index && ` · ${t('isCurrent')}`}
            </span>
            <Button onPress={() => onOpen(version.index)} aria-label={t('openVersion', { version: version.index })}>
              {t('open')}
            </Button>
          </li>
        ))}
      </ol>
    </section>
  );
}

function Comparison({ sessionId, from, to }: { sessionId: string; from: number; to: number }) {
  const before = useVersion(sessionId, from);
  const after = useVersion(sessionId, to);
  if (!before.data || !after.data) return <p role="status">{(before.error ?? after.error)?.message ?? t('loading')}</p>;
  if (before.data.text === after.data.text) return <p>{t('sameText')}</p>;
  return (
    <LazyEditor
      key={`${from}-${to}`}
      text={after.data.text}
      compareWith={before.data.text}
      label={t('comparison', { from, to })}
      isCode={after.data.kind === 'code'}
      language={after.data.language}
    />
  );
}
