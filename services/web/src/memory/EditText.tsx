import { type FormEvent, useState } from 'react';
import { Button, Dialog, Heading, Label, Modal, TextArea, TextField } from 'react-aria-components';
import { t } from '../i18n';
import style from '../shell/dialogs.module.css';

interface Props {
  title: string;
  label: string;
  text: string;
  error: string | undefined;
  onText: (text: string) => void;
  onCancel: () => void;
}

/** A dialog for a longer text; an empty one is not saved. */
export function EditText({ title, label, text, error, onText, onCancel }: Props) {
  const [written, setWritten] = useState(text);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (written.trim()) onText(written.trim());
  };
  return (
    <Modal isOpen isDismissable className={style.modal!} onOpenChange={onCancel}>
      <Dialog className={style.dialog!}>
        <form onSubmit={submit}>
          <Heading slot="title">{title}</Heading>
          <TextField value={written} onChange={setWritten} maxLength={10_000} autoFocus>
            <Label>{label}</Label>
            <TextArea rows={4} />
          </TextField>
          <p role="alert">{error}</p>
          <div className={style.actions}>
            <Button onPress={onCancel}>{t('cancel')}</Button>
            <Button type="submit" isDisabled={!written.trim()}>
              {t('save')}
            </Button>
          </div>
        </form>
      </Dialog>
    </Modal>
  );
}
