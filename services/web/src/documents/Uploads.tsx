import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button, DropZone, FileTrigger, Text } from 'react-aria-components';
import type { Problem } from '../api/client';
import { explained, number, t } from '../i18n';
import style from './documents.module.css';
import { filesIn, send } from './sending';

interface Sent {
  id: string;
  name: string;
  /** 0 to 1 while it is being sent. */
  share: number;
  /** The API has answered. */
  done: boolean;
  refused: string | undefined;
  existed: boolean;
}

/** Why a file was not taken, without the long list of formats that would be. */
const reasonOf = ({ status, type, message, detail }: Problem): string =>
  status === 0 ? t('connectionBroke') : ((type === 'nothing-accepted' && detail) || message).split('; supported:')[0]!;

/** Accepts dropped or chosen files and folders, and sends them one after the other. */
export function Uploads() {
  const client = useQueryClient();
  const [sent, setSent] = useState<Sent[]>([]);
  const change = (id: string, values: Partial<Sent>) =>
    setSent((all) => all.map((each) => (each.id === id ? { ...each, ...values } : each)));
  const add = async (files: File[]) => {
    const waiting = files.map((file) => ({ file, id: crypto.randomUUID() }));
    const fresh = waiting.map(({ file, id }) => ({
      id,
      name: file.name,
      share: 0,
      done: false,
      refused: undefined,
      existed: false,
    }));
    setSent((all) => [...fresh, ...all]);
    for (const { file, id } of waiting) {
      try {
        const results = await send(file, (share) => change(id, { share }));
        const refused = results
          .flatMap(({ message, error }) => (error ? explained(error, message ?? error) : []))
          .join(' ');
        change(id, { done: true, refused: refused || undefined, existed: results.every(({ created }) => !created) });
      } catch (error) {
        change(id, { done: true, refused: reasonOf(error as Problem) });
      }
    }
    await client.invalidateQueries({ queryKey: ['documents'] }); // until then, the stream of changes tells of them
  };
  const current = sent.find(({ done }) => !done);
  const shown = sent.filter((each) => each === current || each.refused || each.existed);
  const added = sent.filter(({ done, refused, existed }) => done && !refused && !existed).length;
  return (
    <section aria-label={t('uploads')}>
      <DropZone className={style.drop!} onDrop={async ({ items }) => add(await filesIn(items))}>
        <Text slot="label">{t('dropFiles')}</Text>
        <FileTrigger allowsMultiple onSelect={(files) => add([...(files ?? [])])}>
          <Button>{t('addFiles')}</Button>
        </FileTrigger>
        <FileTrigger acceptDirectory onSelect={(files) => add([...(files ?? [])])}>
          <Button>{t('addFolder')}</Button>
        </FileTrigger>
      </DropZone>
      <p role="status">
        {current
          ? t('sendingOf', { done: number(sent.filter(({ done }) => done).length), all: number(sent.length) })
          : added > 0 && t('addedCount', { count: number(added) })}
      </p>
      <ul className={style.sent}>
        {shown.map(({ id, name, share, done, refused, existed }) => (
          <li key={id} data-refused={Boolean(refused)}>
            {refused ? t('attempted', { name, reason: refused }) : name}
            {!done && <progress value={share} aria-label={t('uploading', { name })} />}
            {!refused && existed && ` (${t('exists')})`}
          </li>
        ))}
      </ul>
    </section>
  );
}
