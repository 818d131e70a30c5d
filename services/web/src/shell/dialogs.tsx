// Small dialogs: they take the focus, return it, and close on Escape.
import { type FormEvent, type ReactNode, useRef } from 'react';
import { Button, Dialog, Heading, Input, Label, Modal, TextField } from 'react-aria-components';
import { t } from '../i18n';
import style from './dialogs.module.css';

interface ConfirmProps {
  text: string;
  /** The label of the button; by default it says that something is deleted. */
  action?: string;
  children?: ReactNode;
  error: string | undefined;
  onConfirm: () => void;
  onCancel: () => void;
}

export function Confirm({ text, action, children, error, onConfirm, onCancel }: ConfirmProps) {
  return (
    <Modal isOpen isDismissable className={style.modal!} onOpenChange={onCancel}>
      <Dialog role="alertdialog" className={style.dialog!}>
        <Heading slot="title">{text}</Heading>
        {children}
        <p role="alert">{error}</p>
        <div className={style.actions}>
          <Button onPress={onCancel}>{t('cancel')}</Button>
          <Button className={style.danger!} onPress={onConfirm}>
            {action ?? t('delete')}
          </Button>
        </div>
      </Dialog>
    </Modal>
  );
}

interface RenameProps {
  name: string;
  error: string | undefined;
  onName: (name: string) => void;
  onCancel: () => void;
}

export function Rename({ name, error, onName, onCancel }: RenameProps) {
  const field = useRef<HTMLInputElement>(null);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const given = field.current!.value.trim();
    if (given) onName(given);
  };
  return (
    <Modal isOpen isDismissable className={style.modal!} onOpenChange={onCancel}>
      <Dialog className={style.dialog!}>
        <form onSubmit={submit}>
          <Heading slot="title">{t('rename')}</Heading>
          <TextField defaultValue={name} maxLength={200} autoFocus>
            <Label>{t('name')}</Label>
            <Input ref={field} />
          </TextField>
          <p role="alert">{error}</p>
          <div className={style.actions}>
            <Button onPress={onCancel}>{t('cancel')}</Button>
            <Button type="submit">{t('save')}</Button>
          </div>
        </form>
      </Dialog>
    </Modal>
  );
}
