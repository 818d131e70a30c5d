import { type FormEvent, type KeyboardEvent, useRef, useState } from 'react';
import { Button, TextArea, TextField } from 'react-aria-components';
import type { Schemas } from '../api/client';
import { t } from '../i18n';
import style from './chat.module.css';
import type { Shown } from './exchange';
import { LimitedTo } from './NamedDocuments';
import { ShownImages } from './ShownImages';
import { Siblings } from './Siblings';

interface Props {
  sessionId: string;
  question: Shown;
  onEdit: (question: Schemas['Message'], content: string) => void;
  onMove: (messageId: string) => void;
}

/** A question; editing it creates a sibling, and the earlier answer is kept. */
export function Question({ sessionId, question, onEdit, onMove }: Props) {
  const [editing, setEditing] = useState(false);
  const left = useRef(false);
  const { content, images, documents, message } = question;
  const leave = () => {
    left.current = true; // return the focus to where it came from
    setEditing(false);
  };
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const changed = String(new FormData(event.currentTarget).get('content')).trim();
    setEditing(false);
    if (message && changed && changed !== content) onEdit(message, changed);
  };
  const onKeyDown = (event: KeyboardEvent) => event.key === 'Escape' && leave();
  if (editing)
    return (
      <form className={style.edit} onSubmit={submit} onKeyDown={onKeyDown}>
        <TextField name="content" defaultValue={content} maxLength={200_000} aria-label={t('editLabel')} autoFocus>
          <TextArea />
        </TextField>
        <Button type="submit">{t('send')}</Button>
        <Button onPress={leave}>{t('cancel')}</Button>
      </form>
    );
  return (
    <div className={style.asked}>
      <p className={style.question}>{content}</p>
      {images.length > 0 && <ShownImages sessionId={sessionId} ids={images} />}
      {documents.length > 0 && <LimitedTo ids={documents} />}
      {message && (
        <div className={style.actions}>
          <Siblings message={message} onMove={onMove} />
          <Button autoFocus={left.current} onPress={() => setEditing(true)}>
            {t('edit')}
          </Button>
        </div>
      )}
    </div>
  );
}
