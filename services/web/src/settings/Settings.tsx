import { useState } from 'react';
import type { Schemas } from '../api/client';
import { t } from '../i18n';
import { Choice } from '../shell/Choice';
import style from '../shell/page.module.css';
import { Appearance } from './Appearance';
import { type Scope, useSchema, useSettings } from './api';
import { categoryOf, membersOf } from './forms';
import { type Provider, Providers } from './Providers';
import { SettingField } from './SettingField';

const ADDRESSES = 'providers.{name}.base_url';

/** Settings for answers: the user's own, and for owners those of the workspace. The API lists them. */
export function Settings({ caller }: { caller: Schemas['Caller'] }) {
  const [scope, setScope] = useState<Scope>(caller.role === 'owner' ? 'workspace' : 'user');
  const schema = useSchema();
  const settings = useSettings(scope);
  const error = schema.error ?? settings.error;
  const options = [
    { value: 'workspace', name: t('ofWorkspace') },
    { value: 'user', name: t('ofMine') },
  ] as const;
  return (
    <>
      <Appearance />
      <h2>{t('setHow')}</h2>
      <p className={style.quiet}>{t('settingsHint')}</p>
      {caller.role === 'owner' && (
        <div className={style.form}>
          <Choice label={t('whoseSettings')} value={scope} options={options} onChange={setScope} />
        </div>
      )}
      {schema.data && settings.data ? (
        <Categories key={scope} schema={schema.data} states={settings.data} scope={scope} />
      ) : (
        <p role="status">{error?.message ?? t('loading')}</p>
      )}
    </>
  );
}

interface Props {
  schema: Schemas['SettingSchema'][];
  states: Schemas['SettingState'][];
  scope: Scope;
}

function Categories({ schema, states, scope }: Props) {
  // Budgets stand with the other limits.
  const shown = schema.filter(({ scopes, category }) => scopes.includes(scope) && category !== 'budgets');
  const providers = providersIn(states);
  return [...new Set(shown.map(({ category }) => category))].map((category) => {
    const known = categoryOf(category);
    const name = known ? t(known) : category;
    const fields = shown.filter((setting) => setting.category === category && !setting.key.includes('{name}'));
    return (
      <section key={category} aria-label={name}>
        <h2>{name}</h2>
        {category === 'providers' && <Providers providers={providers} />}
        {fields.map((setting) => {
          const state = states.find(({ key }) => key === setting.key);
          const names = providers.map(({ name: each }) => each);
          return <SettingField key={setting.key} setting={setting} state={state} scope={scope} providers={names} />;
        })}
      </section>
    );
  });
}

const providersIn = (states: readonly Schemas['SettingState'][]): Provider[] =>
  membersOf(
    ADDRESSES,
    states.map(({ key }) => key),
  ).map((name) => ({
    name,
    address: String(states.find(({ key }) => key === ADDRESSES.replace('{name}', name))!.value),
    hasKey: states.some(({ key, is_set: isSet }) => key === `providers.${name}.api_key` && isSet),
  }));
