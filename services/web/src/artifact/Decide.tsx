import { useState } from 'react';
import { Button } from 'react-aria-components';
import { t } from '../i18n';
import style from './artifact.module.css';
import type { Artifact } from './artifacts';
import type { Conflict } from './draft';
import { LazyEditor } from './LazyEditor';

interface Props {
  conflict: Conflict;
  base: Artifact;
  error: string | undefined;
  onType: (text: string) => void;
  /** The chosen text; without one, theirs is kept. */
  onDecide: (text?: string) => void;
}

/** Edit conflict: the user's text with its differences marked, to merge by change or as a whole. */
export function Decide({ conflict: { theirs, mine }, base, error, onType, onDecide }: Props) {
  const [merged, setMerged] = useState(mine);
  const take = (text: string) => {
    setMerged(text);
    onType(text); // survives a reload, still undecided
  };
  return (
    <>
      <div className={style.tools}>
        <p role="alert">{t(theirs ? 'conflict' : 'conflictDeleted')}</p>
        <Button onPress={() => onDecide(merged)}>{t(theirs ? 'saveMerged' : 'saveAnew')}</Button>
        {theirs && <Button onPress={() => onDecide(mine)}>{t('keepAllMine')}</Button>}
        {theirs && <Button onPress={() => onDecide()}>{t('takeAllTheirs')}</Button>}
      </div>
      <p role="alert">{error}</p>
      <div className={style.body}>
        <LazyEditor
          text={mine}
          compareWith={theirs?.text}
          label={t('artifactText')}
          isCode={base.kind === 'code'}
          language={base.language}
          onChange={take}
        />
      </div>
    </>
  );
}
