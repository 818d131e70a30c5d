import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Button, Input, Label, TextArea, TextField } from 'react-aria-components';
import { api, type Schemas } from '../api/client';
import { t } from '../i18n';
import { Choice } from '../shell/Choice';
import style from '../shell/page.module.css';
import { type Scope, useSchema, useSettings } from './api';
import { formOf, membersOf, nameOf } from './forms';
import { Models } from './Models';
import own from './settings.module.css';

type Preset = Schemas['Preset'];
type Roles = Preset['roles'];

interface Props {
  /** The preset to change; without it, a new one is created. */
  preset: Preset | undefined;
  isOwner: boolean;
  onDone: () => Promise<void>;
  onCancel: () => void;
}

/** A preset: its instructions, models, and the tags of the documents to use. */
export function PresetForm({ preset, isOwner, onDone, onCancel }: Props) {
  const [name, setName] = useState(preset?.name ?? '');
  const [scope, setScope] = useState<Scope>(preset?.scope ?? 'user');
  const [roles, setRoles] = useState<Roles>(preset?.roles ?? {});
  const schema = useSchema();
  const settings = useSettings('workspace');
  const providers = membersOf('providers.{name}.base_url', settings.data?.map(({ key }) => key) ?? []);
  const save = useMutation({
    mutationFn: (put: Schemas['PresetPut']) =>
      api.PUT('/v1/presets/{preset_name}', {
        params: { path: { preset_name: name.trim().toLowerCase() }, query: { scope } },
        body: put,
      }),
    onSuccess: onDone,
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = (field: string) => String(form.get(field) ?? '').trim();
    const tags = text('tags')
      .split(',')
      .map((tag) => tag.trim())
      .filter(Boolean);
    save.mutate({
      instructions: text('instructions') || null,
      temperature: text('temperature') ? Number(text('temperature')) : null,
      tags: tags.length > 0 ? tags : null,
      roles: Object.fromEntries(Object.entries(roles).filter(([, models]) => models.length > 0)),
      document_ids: preset?.document_ids ?? null,
      source_ids: preset?.source_ids ?? null,
      footnotes: preset?.footnotes ?? null,
    });
  };
  const choosable = schema.data?.filter(({ category }) => category === 'roles') ?? [];
  const isWhole = Object.values(roles).every((models) => models.every(({ model }) => model.trim()));
  return (
    <form className={own.preset} onSubmit={submit} aria-label={preset ? preset.name : t('newPreset')}>
      <div className={style.form}>
        <TextField
          className={style.grow!}
          value={name}
          onChange={setName}
          isDisabled={Boolean(preset)}
          maxLength={64}
          autoFocus={!preset}
        >
          <Label>{t('presetName')}</Label>
          <Input placeholder="reviewer" />
        </TextField>
        {isOwner && !preset && (
          <Choice
            label={t('whosePreset')}
            value={scope}
            options={[
              { value: 'user', name: t('ofMine') },
              { value: 'workspace', name: t('ofWorkspace') },
            ]}
            onChange={setScope}
          />
        )}
      </div>
      <TextField
        name="instructions"
        defaultValue={preset?.instructions ?? ''}
        maxLength={8_000}
        autoFocus={Boolean(preset)}
      >
        <Label>{t('setInstructions')}</Label>
        <TextArea rows={4} />
      </TextField>
      <div className={style.form}>
        <TextField name="temperature" type="number" defaultValue={preset?.temperature?.toString() ?? ''}>
          <Label>{t('setTemperature')}</Label>
          <Input min={0} max={2} step="any" />
        </TextField>
        <TextField className={style.grow!} name="tags" defaultValue={preset?.tags?.join(', ') ?? ''}>
          <Label>{t('presetTags')}</Label>
          <Input />
        </TextField>
      </div>
      <details open={Object.keys(roles).length > 0}>
        <summary>{t('presetRoles')}</summary>
        {choosable.map(({ key, value_schema: value }) => {
          const role = key.slice('roles.'.length);
          const known = nameOf(key);
          const form = formOf(value);
          const label = known ? t(known) : role;
          return (
            <div key={key}>
              <p>{label}</p>
              <Models
                label={label}
                models={roles[role] ?? []}
                most={form.kind === 'models' ? form.most : 1}
                providers={providers}
                onChange={(models) => setRoles({ ...roles, [role]: models })}
              />
            </div>
          );
        })}
      </details>
      <p role="alert" className={style.error}>
        {save.error?.message}
      </p>
      <div className={style.actions}>
        <Button type="submit" className={style.primary!} isDisabled={!name.trim() || !isWhole || save.isPending}>
          {t('save')}
        </Button>
        <Button onPress={onCancel}>{t('cancel')}</Button>
      </div>
    </form>
  );
}
