import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useRef, useState } from 'react';
import { Button, Input, Label, TextField } from 'react-aria-components';
import { saveFile } from '../api/save';
import { t } from '../i18n';
import { Choice } from '../shell/Choice';
import style from '../shell/page.module.css';
import { Forget } from './Forget';

const SHORTEST = 2; // characters, the shortest text that the API searches for
const WAYS = [
  { value: 'about', name: 'forgetAbout' },
  { value: 'query', name: 'forgetQuery' },
] as const;

/** Exports memories, and forgets everything known about a subject. */
export function Rights() {
  const [text, setText] = useState('');
  const [way, setWay] = useState<'about' | 'query'>('about');
  const [open, setOpen] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const save = useMutation({ mutationFn: () => saveFile('/v1/memories/export') });
  const words = text.trim();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setOpen(words.length >= SHORTEST);
  };
  const close = (forgotten: boolean) => {
    setOpen(false);
    if (!forgotten) return;
    setText('');
    requestAnimationFrame(() => field.current?.focus()); // without a text, the button that had the focus is disabled
  };
  return (
    <section aria-label={t('rights')}>
      <h2>{t('rights')}</h2>
      <p className={style.quiet}>{t('rightsHint')}</p>
      <form className={style.form} onSubmit={submit}>
        <Choice
          label={t('forgetWay')}
          value={way}
          options={WAYS.map(({ value, name }) => ({ value, name: t(name) }))}
          onChange={setWay}
        />
        <TextField className={style.grow!} value={text} onChange={setText} maxLength={way === 'about' ? 200 : 10_000}>
          <Label>{t('forgetWhat')}</Label>
          <Input ref={field} />
        </TextField>
        <Button type="submit" isDisabled={words.length < SHORTEST}>
          {t('forgetFirst')}
        </Button>
        <Button isDisabled={save.isPending} onPress={() => save.mutate()}>
          {t('exportMemories')}
        </Button>
      </form>
      <p role="alert" className={style.error}>
        {save.error?.message}
      </p>
      {open && (
        <Forget
          wanted={way === 'about' ? { about: words } : { query: words }}
          title={t('forgetText', { text: words })}
          onClose={close}
        />
      )}
    </section>
  );
}
