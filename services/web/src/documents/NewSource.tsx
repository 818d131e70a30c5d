import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useId, useRef, useState } from 'react';
import { Button, Input, Label, TextField } from 'react-aria-components';
import { api, body, type Schemas } from '../api/client';
import { type Key, t } from '../i18n';
import page from '../shell/page.module.css';
import { INTERVALS, KINDS, type KindName, MODES, REMOVED, sourceOf } from './sources';

interface Props {
  /** The source exists; `isPreview`: it is paused, so that a dry run can show first what it would do. */
  onDone: (id: string, isPreview: boolean) => unknown;
  onCancel: () => void;
}

/** The form for a new source. With a preview, it is created paused. */
export function NewSource({ onDone, onCancel }: Props) {
  const [kind, setKind] = useState<KindName>('folder');
  const form = useRef<HTMLFormElement>(null);
  const key = useRef(crypto.randomUUID()); // a repeated request makes no second source
  const make = useMutation({
    mutationFn: async (isPreview: boolean) => {
      const source = await created(sourceOf(new FormData(form.current!)), !isPreview, key.current);
      if (isPreview) {
        const params = { path: { source_id: source.id } };
        await api.PATCH('/v1/sources/{source_id}', { params, body: { paused: true } });
      }
      await onDone(source.id, isPreview);
    },
    onError: () => {
      key.current = crypto.randomUUID(); // what was refused will be corrected
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    make.mutate(true);
  };
  return (
    <form ref={form} className={page.form} onSubmit={submit} aria-label={t('newSource')}>
      <Select
        name="kind"
        label="kind"
        options={Object.entries(KINDS)}
        onChange={(value) => setKind(value as KindName)}
      />
      <Field name="name" label="name" required autoFocus />
      {kind === 'web' && (
        <>
          <Field name="url" label="webAddress" type="url" required />
          <Select name="mode" label="webMode" options={Object.entries(MODES)} />
        </>
      )}
      {(kind === 'folder' || kind === 'git') && <Field name="path" label="serverPath" required />}
      {kind === 'git' && <Field name="ref" label="gitRef" />}
      {kind === 's3' && (
        <>
          <Field name="bucket" label="bucket" required />
          <Field name="prefix" label="prefix" />
          <Field name="connection" label="connection" />
        </>
      )}
      <Field name="include" label="includePatterns" />
      <Field name="exclude" label="excludePatterns" />
      <Select name="every" label="interval" options={INTERVALS} />
      <Select name="on_removed" label="whenRemoved" options={Object.entries(REMOVED)} />
      {kind === 'folder' && (
        <label className={page.check}>
          <input type="checkbox" name="watch" defaultChecked />
          {t('watchFolder')}
        </label>
      )}
      <div className={page.actions}>
        <Button type="submit" className={page.primary!} isDisabled={make.isPending}>
          {t('previewSource')}
        </Button>
        <Button isDisabled={make.isPending} onPress={() => form.current!.reportValidity() && make.mutate(false)}>
          {t('createSource')}
        </Button>
        <Button onPress={onCancel}>{t('cancel')}</Button>
      </div>
      <p role="alert" className={page.error}>
        {make.error?.message}
      </p>
    </form>
  );
}

const created = (source: Schemas['SourceCreate'], sync: boolean, key: string) =>
  body(
    api.POST('/v1/sources', {
      params: { query: { sync }, header: { 'idempotency-key': key } },
      body: source,
    }),
  );

interface FieldProps {
  name: string;
  label: Key;
  type?: 'text' | 'url';
  required?: boolean;
  autoFocus?: boolean;
}

const Field = ({ name, label, type = 'text', required = false, autoFocus = false }: FieldProps) => (
  <TextField
    className={page.grow!}
    name={name}
    type={type}
    isRequired={required}
    autoFocus={autoFocus}
    maxLength={1_000}
  >
    <Label>{t(label)}</Label>
    <Input />
  </TextField>
);

interface SelectProps {
  name: string;
  label: Key;
  options: readonly (readonly [value: string, name: Key])[];
  onChange?: (value: string) => void;
}

function Select({ name, label, options, onChange }: SelectProps) {
  const id = useId();
  return (
    <div>
      <label htmlFor={id}>{t(label)}</label>
      <select id={id} name={name} onChange={({ target }) => onChange?.(target.value)}>
        {options.map(([value, text]) => (
          <option key={value} value={value}>
            {t(text)}
          </option>
        ))}
      </select>
    </div>
  );
}
