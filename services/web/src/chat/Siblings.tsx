import { Button } from 'react-aria-components';
import type { Schemas } from '../api/client';
import { t } from '../i18n';
import style from './chat.module.css';

interface Props {
  message: Schemas['Message'];
  onMove: (messageId: string) => void;
}

/** Switches between the siblings of a message: edits of a question, other answers to one. */
export function Siblings({ message, onMove }: Props) {
  const { siblings } = message;
  if (!siblings || siblings.count < 2) return null;
  const { index, count, ids } = siblings;
  const go = (place: number) => () => onMove(ids[place]!);
  return (
    <span className={style.siblings}>
      <Button aria-label={t('older')} isDisabled={index === 0} onPress={go(index - 1)}>
        ‹
      </Button>
      {t('version', { index: index + 1, count })}
      <Button aria-label={t('newer')} isDisabled={index === count - 1} onPress={go(index + 1)}>
        ›
      </Button>
    </span>
  );
}
