import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from 'react-aria-components';
import { api, body, type Schemas } from '../api/client';
import { number, t, when } from '../i18n';
import { Confirm } from '../shell/dialogs';
import style from '../shell/page.module.css';

type Letter = Schemas['DeadLetter'];

/** The dead letters of services with their reasons; a dialog explains replaying before it is done. */
export function DeadLetters({ letters }: { letters: Letter[] }) {
  const client = useQueryClient();
  const [chosen, setChosen] = useState<Letter[]>();
  const replay = useMutation({
    mutationFn: (ids: string[]) => body(api.POST('/v1/dead-letters/replay', { body: { ids } })),
    onSuccess: async () => {
      setChosen(undefined);
      await Promise.all(['dead-letters', 'backlogs'].map((key) => client.invalidateQueries({ queryKey: [key] })));
    },
  });
  const names = [...new Set(chosen?.map(({ service }) => service))].sort().join(', ');
  return (
    <>
      <p role="status">{replay.data && t('deliveredAgain', { count: number(replay.data.replayed) })}</p>
      {letters.length > 0 && (
        <>
          <h2>{t('deadLetters')}</h2>
          <ul className={style.rows}>
            {letters.map((letter) => (
              <li key={letter.id}>
                <span className={style.words}>
                  <strong>{letter.reason}</strong>
                  <span className={style.quiet}>
                    {[letter.service, letter.type, letter.subject, when(letter.failed_at)].filter(Boolean).join(' · ')}
                  </span>
                </span>
                <Button onPress={() => setChosen([letter])} aria-label={`${t('deliverAgain')}: ${letter.reason}`}>
                  {t('deliverAgain')}
                </Button>
              </li>
            ))}
          </ul>
          {letters.length > 1 && <Button onPress={() => setChosen(letters)}>{t('deliverAll')}</Button>}
        </>
      )}
      {chosen && (
        <Confirm
          text={t('deliverSure', { count: number(chosen.length), names })}
          action={t('deliverAgain')}
          error={replay.error?.message}
          onConfirm={() => replay.mutate(chosen.map(({ id }) => id))}
          onCancel={() => setChosen(undefined)}
        />
      )}
    </>
  );
}
