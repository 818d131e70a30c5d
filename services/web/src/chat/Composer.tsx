import { type FormEvent, type KeyboardEvent, useEffect, useRef } from 'react';
import { Button } from 'react-aria-components';
import { t } from '../i18n';
import style from './chat.module.css';

interface Props {
  running: boolean;
  busy?: boolean;
  onAsk: (content: string) => void;
  onStop: () => void;
}

/** Enter sends, Shift+Enter breaks the line; an input method that composes keeps its Enter. */
export function Composer({ running, busy = false, onAsk, onStop }: Props) {
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current!.focus(), []);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const content = field.current!.value.trim();
    if (!content || running || busy) return;
    field.current!.value = '';
    onAsk(content);
  };
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    const composing = event.nativeEvent.isComposing || event.keyCode === 229; // Safari ends composing before the key
    if (event.key === 'Enter' && !event.shiftKey && !composing) submit(event);
  };
  return (
    <form className={style.composer} onSubmit={submit}>
      <textarea
        ref={field}
        rows={1}
        maxLength={10_000}
        placeholder={t('ask')}
        aria-label={t('askLabel')}
        onKeyDown={onKeyDown}
      />
      {running ? (
        <Button onPress={onStop}>{t('stop')}</Button>
      ) : (
        <Button type="submit" isDisabled={busy}>
          {t('send')}
        </Button>
      )}
    </form>
  );
}
