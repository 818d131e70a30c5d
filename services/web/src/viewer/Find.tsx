import { type KeyboardEvent, type RefObject, useEffect, useRef, useState } from 'react';
import { Button, Input, SearchField } from 'react-aria-components';
import { number, t } from '../i18n';
import type { Finder } from './finder';
import style from './viewer.module.css';

const PAUSE_MILLISECONDS = 150; // after a keystroke

interface Props {
  finder: RefObject<Finder | null>;
  onClose: () => void;
}

/** The search within a source: Enter goes to the next place, Shift and Enter to the one before, Escape ends it. */
export function Find({ finder, onClose }: Props) {
  const [words, setWords] = useState('');
  const [found, setFound] = useState<{ count: number; at: number }>();
  const last = useRef(0); // a search of earlier words that ends late is of no interest
  useEffect(() => {
    const turn = ++last.current;
    if (!words.trim()) {
      setFound(undefined);
      finder.current?.clear();
      return;
    }
    const timer = setTimeout(async () => {
      const count = (await finder.current?.find(words.trim())) ?? 0;
      if (turn !== last.current) return;
      setFound({ count, at: 0 });
      if (count > 0) finder.current?.show(0);
    }, PAUSE_MILLISECONDS);
    return () => clearTimeout(timer);
  }, [words, finder]);
  useEffect(() => {
    const shown = finder.current;
    return () => shown?.clear();
  }, [finder]);
  const step = (by: number) => {
    if (!found?.count) return;
    const at = (found.at + by + found.count) % found.count;
    setFound({ ...found, at });
    finder.current?.show(at);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') onClose();
    else if (event.key === 'Enter' && event.target instanceof HTMLInputElement && !event.nativeEvent.isComposing)
      step(event.shiftKey ? -1 : 1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const isIdle = !found?.count;
  return (
    <search className={style.find} onKeyDownCapture={onKeyDown}>
      <SearchField autoFocus aria-label={t('findInSource')} value={words} onChange={setWords}>
        <Input placeholder={t('findInSource')} maxLength={200} />
      </SearchField>
      <output>
        {found && (isIdle ? t('nothingFound') : t('placeOf', { at: number(found.at + 1), count: number(found.count) }))}
      </output>
      <Button isDisabled={isIdle} onPress={() => step(-1)} aria-label={t('previousPlace')}>
        ‹
      </Button>
      <Button isDisabled={isIdle} onPress={() => step(1)} aria-label={t('nextPlace')}>
        ›
      </Button>
      <Button onPress={onClose} aria-label={t('endFind')}>
        ×
      </Button>
    </search>
  );
}
