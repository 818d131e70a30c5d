import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Button, Dialog, Heading, Label, Modal, TextArea, TextField, ToggleButton } from 'react-aria-components';
import { api, type Schemas } from '../api/client';
import { t } from '../i18n';
import dialog from '../shell/dialogs.module.css';
import page from '../shell/page.module.css';
import style from './chat.module.css';
import { Thumb } from './Thumb';

type Given = Schemas['FeedbackPut'];

/** The reader's rating of an answer, with an optional comment; pressing it again withdraws it. */
export function Feedback({ message }: { message: Schemas['Message'] }) {
  const client = useQueryClient();
  const [commenting, setCommenting] = useState(false);
  const params = { path: { message_id: message.id } };
  const onSuccess = async () => {
    setCommenting(false);
    await client.invalidateQueries({ queryKey: ['messages', message.session_id] });
  };
  const rate = useMutation({
    mutationFn: (body: Given) => api.PUT('/v1/messages/{message_id}/feedback', { params, body }),
    onSuccess,
  });
  const withdraw = useMutation({
    mutationFn: () => api.DELETE('/v1/messages/{message_id}/feedback', { params }),
    onSuccess,
  });
  const given = message.feedback;
  const error = (rate.error ?? withdraw.error)?.message;
  const toggle = (rating: Given['rating']) => (on: boolean) => (on ? rate.mutate({ rating }) : withdraw.mutate());
  return (
    <>
      <ToggleButton isSelected={given?.rating === 'up'} onChange={toggle('up')} aria-label={t('goodAnswer')}>
        <Thumb />
      </ToggleButton>
      <ToggleButton isSelected={given?.rating === 'down'} onChange={toggle('down')} aria-label={t('badAnswer')}>
        <Thumb down />
      </ToggleButton>
      {given && <Button onPress={() => setCommenting(true)}>{t('comment')}</Button>}
      {error && !commenting && (
        <span role="alert" className={style.note}>
          {error}
        </span>
      )}
      {given && commenting && (
        <Comment given={given} error={error} onSave={rate.mutate} onCancel={() => setCommenting(false)} />
      )}
    </>
  );
}

interface CommentProps {
  given: Schemas['AnswerFeedback'];
  error: string | undefined;
  onSave: (body: Given) => void;
  onCancel: () => void;
}

function Comment({ given, error, onSave, onCancel }: CommentProps) {
  const [text, setText] = useState(given.comment ?? '');
  const [shared, setShared] = useState(given.share_content);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSave({ rating: given.rating, reasons: given.reasons, comment: text.trim() || null, share_content: shared });
  };
  return (
    <Modal isOpen isDismissable className={dialog.modal!} onOpenChange={onCancel}>
      <Dialog className={dialog.dialog!}>
        <form onSubmit={submit}>
          <Heading slot="title">{t('comment')}</Heading>
          <TextField value={text} onChange={setText} maxLength={5_000} autoFocus>
            <Label>{t('commentLabel')}</Label>
            <TextArea rows={4} />
          </TextField>
          <p className={page.form}>
            <label className={page.check}>
              <input type="checkbox" checked={shared} onChange={({ target }) => setShared(target.checked)} />
              {t('shareContent')}
            </label>
          </p>
          <p role="alert">{error}</p>
          <div className={dialog.actions}>
            <Button onPress={onCancel}>{t('cancel')}</Button>
            <Button type="submit">{t('save')}</Button>
          </div>
        </form>
      </Dialog>
    </Modal>
  );
}
