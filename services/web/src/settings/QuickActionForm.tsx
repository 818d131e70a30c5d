import { useMutation } from '@tanstack/react-query';
import type { FormEvent } from 'react';
import { Button, Input, Label, TextArea, TextField } from 'react-aria-components';
import { api, type Schemas } from '../api/client';
import { t } from '../i18n';
import style from '../shell/page.module.css';
import { mayShare, writtenIn } from './quick-actions';
import own from './settings.module.css';

interface Props {
  /** The quick action to change; without it, a new one is created. */
  action: Schemas['QuickAction'] | undefined;
  role: Schemas['Role'];
  onDone: () => Promise<void>;
  onCancel: () => void;
}

/** A named prompt, what it reads besides the text, and whom it is for. */
export function QuickActionForm({ action, role, onDone, onCancel }: Props) {
  const save = useMutation({
    mutationFn: async (form: FormData) => {
      const written = writtenIn(form);
      if (!action) return await api.POST('/v1/quick-actions', { body: { ...written, shared: form.has('shared') } });
      const params = { path: { action_id: action.id }, header: { 'if-match': `"${action.version}"` } };
      return await api.PATCH('/v1/quick-actions/{action_id}', { params, body: written });
    },
    onSuccess: onDone,
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    save.mutate(new FormData(event.currentTarget));
  };
  return (
    <form className={own.preset} onSubmit={submit} aria-label={action?.name ?? t('newQuickAction')}>
      <TextField name="name" defaultValue={action?.name ?? ''} maxLength={200} isRequired autoFocus>
        <Label>{t('name')}</Label>
        <Input />
      </TextField>
      <TextField name="prompt" defaultValue={action?.prompt ?? ''} maxLength={10_000} isRequired>
        <Label>{t('prompt')}</Label>
        <TextArea rows={4} />
      </TextField>
      <div className={style.form}>
        <Check name="use_history" label={t('withHistory')} isTicked={action?.use_history ?? false} />
        <Check name="use_preferences" label={t('withPreferences')} isTicked={action?.use_preferences ?? true} />
        {!action && mayShare(role) && <Check name="shared" label={t('forEverybody')} isTicked={false} />}
      </div>
      <p role="alert" className={style.error}>
        {save.error?.message}
      </p>
      <div className={style.actions}>
        <Button type="submit" className={style.primary!} isDisabled={save.isPending}>
          {t('save')}
        </Button>
        <Button onPress={onCancel}>{t('cancel')}</Button>
      </div>
    </form>
  );
}

const Check = ({ name, label, isTicked }: { name: string; label: string; isTicked: boolean }) => (
  <label className={style.check}>
    <input type="checkbox" name={name} defaultChecked={isTicked} />
    {label}
  </label>
);
