import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Button, Input, Label, TextField } from 'react-aria-components';
import { t } from '../i18n';
import { Confirm } from '../shell/dialogs';
import style from '../shell/page.module.css';
import { changed, resetSetting, setSetting } from './api';

const ADDRESS = (name: string) => `providers.${name}.base_url`;
const SECRET = (name: string) => `providers.${name}.api_key`;

export interface Provider {
  name: string;
  address: string;
  hasKey: boolean;
}

/** The workspace's own model providers. A key is entered here, and never shown again. */
export function Providers({ providers }: { providers: readonly Provider[] }) {
  return (
    <>
      <ul className={style.rows}>
        {providers.map((provider) => (
          <ProviderRow key={provider.name} provider={provider} />
        ))}
      </ul>
      <NewProvider taken={providers.map(({ name }) => name)} />
    </>
  );
}

function ProviderRow({ provider: { name, address, hasKey } }: { provider: Provider }) {
  const client = useQueryClient();
  const [open, setOpen] = useState<'key' | 'remove'>();
  const onSuccess = async () => {
    await changed(client);
    setOpen(undefined);
  };
  const write = useMutation({ mutationFn: (key: string) => setSetting(SECRET(name), 'workspace', key), onSuccess });
  const remove = useMutation({ mutationFn: () => resetSetting(ADDRESS(name), 'workspace'), onSuccess });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const key = String(new FormData(event.currentTarget).get('key')).trim();
    if (key) write.mutate(key);
  };
  return (
    <li>
      <span className={style.words}>
        <strong>{name}</strong>
        <span className={style.quiet}>{address}</span>
      </span>
      <span className={style.badge} data-tone={hasKey ? 'good' : undefined}>
        {t(hasKey ? 'keyIsSet' : 'keyIsMissing')}
      </span>
      <div className={style.actions}>
        <Button
          aria-expanded={open === 'key'}
          onPress={() => setOpen(open === 'key' ? undefined : 'key')}
          aria-label={`${t(hasKey ? 'replaceKey' : 'writeKey')}: ${name}`}
        >
          {t(hasKey ? 'replaceKey' : 'writeKey')}
        </Button>
        <Button onPress={() => setOpen('remove')} aria-label={`${t('delete')}: ${name}`}>
          {t('delete')}
        </Button>
      </div>
      {open === 'key' && (
        <form className={style.form} onSubmit={submit}>
          <TextField className={style.grow!} name="key" type="password" autoComplete="off" maxLength={1_000} autoFocus>
            <Label>{t('secretOnce')}</Label>
            <Input />
          </TextField>
          <Button type="submit" isDisabled={write.isPending}>
            {t('save')}
          </Button>
          <p role="alert" className={style.error}>
            {write.error?.message}
          </p>
        </form>
      )}
      {open === 'remove' && (
        <Confirm
          text={t('deleteProvider', { name })}
          error={remove.error?.message}
          onConfirm={remove.mutate}
          onCancel={() => setOpen(undefined)}
        />
      )}
    </li>
  );
}

function NewProvider({ taken }: { taken: readonly string[] }) {
  const client = useQueryClient();
  const [form, setForm] = useState({ name: '', address: '', key: '' });
  const set = (field: keyof typeof form) => (value: string) => setForm({ ...form, [field]: value });
  const name = form.name.trim().toLowerCase();
  const add = useMutation({
    mutationFn: async () => {
      await setSetting(ADDRESS(name), 'workspace', form.address.trim());
      if (form.key.trim()) await setSetting(SECRET(name), 'workspace', form.key.trim());
    },
    onSuccess: () => setForm({ name: '', address: '', key: '' }),
    onSettled: () => changed(client),
  });
  const isTaken = taken.includes(name);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (name && form.address.trim() && !isTaken) add.mutate();
  };
  return (
    <form className={style.form} onSubmit={submit}>
      <TextField value={form.name} onChange={set('name')} maxLength={32}>
        <Label>{t('newProvider')}</Label>
        <Input />
      </TextField>
      <TextField className={style.grow!} type="url" value={form.address} onChange={set('address')} maxLength={500}>
        <Label>{t('providerAddress')}</Label>
        <Input placeholder="https://…/v1" />
      </TextField>
      <TextField type="password" autoComplete="off" value={form.key} onChange={set('key')} maxLength={1_000}>
        <Label>{t('secretOnce')}</Label>
        <Input />
      </TextField>
      <Button type="submit" isDisabled={!name || !form.address.trim() || isTaken || add.isPending}>
        {t('add')}
      </Button>
      <p role="alert" className={style.error}>
        {isTaken ? t('providerTaken', { name }) : add.error?.message}
      </p>
    </form>
  );
}
