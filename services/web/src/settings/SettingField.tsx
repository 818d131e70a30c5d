import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useEffect, useId, useState } from 'react';
import { Button } from 'react-aria-components';
import type { Schemas } from '../api/client';
import { t, told } from '../i18n';
import style from '../shell/page.module.css';
import { changed, resetSetting, type Scope, setSetting } from './api';
import { type Form, formOf, nameOf, parsed, written } from './forms';
import { Models } from './Models';
import own from './settings.module.css';

interface Props {
  setting: Schemas['SettingSchema'];
  state: Schemas['SettingState'] | undefined;
  scope: Scope;
  providers: readonly string[];
}

/** A setting as a field that fits its schema, with the origin of its value and a reset to the default. */
export function SettingField({ setting, state, scope, providers }: Props) {
  const client = useQueryClient();
  const id = useId();
  const form = formOf(setting.value_schema);
  const known = nameOf(setting.key);
  const name = known ? t(known) : setting.key;
  const before = written(form, state?.value ?? setting.default);
  const [text, setText] = useState(before);
  const kept = form.kind === 'models' ? JSON.stringify(state?.value ?? []) : '[]';
  const [models, setModels] = useState<Schemas['RoleModel'][]>(JSON.parse(kept));
  useEffect(() => setText(before), [before]);
  useEffect(() => setModels(JSON.parse(kept)), [kept]);
  const onSuccess = () => changed(client);
  const save = useMutation({
    mutationFn: async () => {
      const value = form.kind === 'models' ? models : form.kind === 'truth' ? text === 'true' : parsed(form, text);
      const isEmpty = value === undefined || (Array.isArray(value) && value.length === 0);
      await (isEmpty ? resetSetting(setting.key, scope) : setSetting(setting.key, scope, value));
    },
    onSuccess,
  });
  const reset = useMutation({ mutationFn: () => resetSetting(setting.key, scope), onSuccess });
  const isOwn = state?.source === scope;
  const isChanged = form.kind === 'models' ? JSON.stringify(models) !== kept : text.trim() !== before;
  const isWhole = form.kind !== 'models' || models.every(({ model }) => model.trim());
  const error = save.error ?? reset.error;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isChanged && isWhole) save.mutate();
  };
  return (
    <form className={own.setting} onSubmit={submit}>
      <div>
        <label htmlFor={id}>
          <strong>{name}</strong>
        </label>{' '}
        {state?.is_set && <span className={style.badge}>{t(isOwn ? 'setHere' : 'setByWorkspace')}</span>}
        <p id={`${id}-what`} className={style.quiet}>
          {told(setting.key, setting.description)}.
        </p>
      </div>
      {form.kind === 'models' ? (
        <Models label={name} models={models} most={form.most} providers={providers} onChange={setModels} />
      ) : (
        <Field id={id} form={form} text={text} onText={setText} />
      )}
      <div className={style.actions}>
        {isChanged && (
          <Button
            type="submit"
            className={style.primary!}
            isDisabled={!isWhole || save.isPending}
            aria-label={`${t('save')}: ${name}`}
          >
            {t('save')}
          </Button>
        )}
        {isOwn && (
          <Button
            isDisabled={reset.isPending}
            onPress={() => reset.mutate()}
            aria-label={`${t('giveDefault')}: ${name}`}
          >
            {t('giveDefault')}
          </Button>
        )}
      </div>
      <p role="alert" className={style.error}>
        {error?.message}
      </p>
    </form>
  );
}

interface FieldProps {
  id: string;
  form: Exclude<Form, { kind: 'models' }>;
  text: string;
  onText: (text: string) => void;
}

function Field({ id, form, text, onText }: FieldProps) {
  const common = {
    id,
    value: text,
    'aria-describedby': `${id}-what`,
    onChange: ({ target }: { target: { value: string } }) => onText(target.value),
  };
  switch (form.kind) {
    case 'truth':
      return (
        <input
          id={id}
          type="checkbox"
          checked={text === 'true'}
          aria-describedby={`${id}-what`}
          onChange={({ target }) => onText(String(target.checked))}
        />
      );
    case 'choice':
      return (
        <select {...common}>
          {['', ...form.values].map((value) => (
            <option key={value} value={value}>
              {value || t('byDefault')}
            </option>
          ))}
        </select>
      );
    case 'number':
      return <input {...common} type="number" min={form.least} max={form.most} step={form.isWhole ? 1 : 'any'} />;
    case 'text':
      return form.isLong ? (
        <textarea {...common} rows={3} maxLength={form.most} />
      ) : (
        <input {...common} maxLength={form.most} />
      );
    case 'json':
      return <textarea {...common} rows={4} spellCheck={false} />;
  }
}
