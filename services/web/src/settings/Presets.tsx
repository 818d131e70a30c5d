import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from 'react-aria-components';
import { api, body, type Schemas } from '../api/client';
import { number, t } from '../i18n';
import { Confirm } from '../shell/dialogs';
import style from '../shell/page.module.css';
import { nameOf } from './forms';
import { PresetForm } from './PresetForm';

type Preset = Schemas['Preset'];

/** Presets of the user and of the workspace; OpenAI-compatible clients choose one as their model. */
export function Presets({ caller }: { caller: Schemas['Caller'] }) {
  const client = useQueryClient();
  const [open, setOpen] = useState<{ preset?: Preset; act: 'write' | 'delete' }>();
  const isOwner = caller.role === 'owner';
  const { data, error } = useQuery({
    queryKey: ['presets'],
    queryFn: async () => (await body(api.GET('/v1/presets'))).items,
  });
  const done = async () => {
    await client.invalidateQueries({ queryKey: ['presets'] });
    setOpen(undefined);
  };
  const remove = useMutation({
    mutationFn: ({ name, scope }: Preset) =>
      api.DELETE('/v1/presets/{preset_name}', { params: { path: { preset_name: name }, query: { scope } } }),
    onSuccess: done,
  });
  if (open?.act === 'write')
    return <PresetForm preset={open.preset} isOwner={isOwner} onDone={done} onCancel={() => setOpen(undefined)} />;
  return (
    <>
      <p className={style.quiet}>{t('presetsHint')}</p>
      {data && (
        <Button className={style.primary!} onPress={() => setOpen({ act: 'write' })}>
          {t('newPreset')}
        </Button>
      )}
      <p role="status">{error?.message ?? (data ? data.length === 0 && t('noPresets') : t('loading'))}</p>
      <ul className={style.rows}>
        {data?.map((preset) => (
          <li key={`${preset.scope} ${preset.name}`}>
            <span className={style.words}>
              <strong>{preset.name}</strong>
              <span className={style.quiet}>
                <code>attractor/{preset.name}</code>
                {[...parts(preset)].map((part) => ` · ${part}`)}
              </span>
              {preset.instructions && <span>{preset.instructions}</span>}
            </span>
            <span className={style.badge}>{t(preset.scope === 'user' ? 'ofMine' : 'ofWorkspace')}</span>
            {(isOwner || preset.scope === 'user') && (
              <div className={style.actions}>
                <Button onPress={() => setOpen({ preset, act: 'write' })} aria-label={`${t('edit')}: ${preset.name}`}>
                  {t('edit')}
                </Button>
                <Button
                  onPress={() => setOpen({ preset, act: 'delete' })}
                  aria-label={`${t('delete')}: ${preset.name}`}
                >
                  {t('delete')}
                </Button>
              </div>
            )}
          </li>
        ))}
      </ul>
      {open?.preset && (
        <Confirm
          text={t('deletePreset', { name: open.preset.name })}
          error={remove.error?.message}
          onConfirm={() => remove.mutate(open.preset!)}
          onCancel={() => setOpen(undefined)}
        />
      )}
    </>
  );
}

function* parts({ temperature, roles, tags, document_ids: documents, source_ids: sources }: Preset) {
  if (temperature !== null) yield `${t('setTemperature')} ${number(temperature, 2)}`;
  for (const [role, models] of Object.entries(roles)) {
    const known = nameOf(`roles.${role}`);
    yield `${known ? t(known) : role}: ${models.map(({ model }) => model).join(', ')}`;
  }
  if (tags) yield `${t('facetTag')}: ${tags.join(', ')}`;
  if (documents) yield t('fromDocuments', { count: documents.length });
  if (sources) yield t('fromSources', { count: sources.length });
}
