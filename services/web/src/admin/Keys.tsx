import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Button, Input, Label, TextField } from 'react-aria-components';
import { api, body, everyPage, type Schemas } from '../api/client';
import { day, t } from '../i18n';
import { Choice } from '../shell/Choice';
import { Confirm } from '../shell/dialogs';
import style from '../shell/page.module.css';
import { Secret } from '../shell/Secret';
import { ROLES, rolesUpTo } from './roles';
import { useNames } from './use-names';

type Caller = Schemas['Caller'];
type ApiKey = Schemas['ApiKey'];

/** The visible API keys: the user's own; for owners, all of the workspace. */
export function Keys({ caller }: { caller: Caller }) {
  const client = useQueryClient();
  const nameOf = useNames(caller);
  const [chosen, setChosen] = useState<ApiKey>();
  const path = { workspace_id: caller.workspace.id };
  const { data, error } = useQuery({
    queryKey: ['keys'],
    queryFn: () =>
      everyPage((cursor) =>
        body(api.GET('/v1/workspaces/{workspace_id}/keys', { params: { path, query: { limit: 200, ...cursor } } })),
      ),
  });
  const revoke = useMutation({
    mutationFn: (id: string) =>
      api.DELETE('/v1/workspaces/{workspace_id}/keys/{key_id}', { params: { path: { ...path, key_id: id } } }),
    onSuccess: async () => {
      setChosen(undefined);
      await client.invalidateQueries({ queryKey: ['keys'] });
    },
  });
  return (
    <>
      <NewKey caller={caller} />
      <p role="status">{error?.message ?? (data ? '' : t('loading'))}</p>
      <ul className={style.rows}>
        {data?.map((key) => (
          <li key={key.id}>
            <span className={style.words}>
              <strong>{key.name}</strong>
              <span className={style.quiet}>
                {[
                  nameOf(key.user_id),
                  t('madeOn', { day: day(key.created_at) }),
                  key.last_used_at ? t('lastUsed', { day: day(key.last_used_at) }) : t('neverUsed'),
                  ...(key.expires_at ? [t('expiresOn', { day: day(key.expires_at) })] : []),
                ].join(' · ')}
              </span>
            </span>
            <span className={style.badge}>{t(ROLES[key.role])}</span>
            {key.revoked_at ? (
              <span className={style.badge} data-tone="bad">
                {t('revoked')}
              </span>
            ) : key.id === caller.key_id ? (
              <span className={style.badge} data-tone="good">
                {t('inUse')}
              </span>
            ) : (
              <Button onPress={() => setChosen(key)} aria-label={`${t('revoke')}: ${key.name}`}>
                {t('revoke')}
              </Button>
            )}
          </li>
        ))}
      </ul>
      {chosen && (
        <Confirm
          text={t('revokeKey', { name: chosen.name })}
          action={t('revoke')}
          error={revoke.error?.message}
          onConfirm={() => revoke.mutate(chosen.id)}
          onCancel={() => setChosen(undefined)}
        />
      )}
    </>
  );
}

/** Creates a key in the user's own name, up to the user's role. It is shown once. */
function NewKey({ caller }: { caller: Caller }) {
  const client = useQueryClient();
  const [name, setName] = useState('');
  const [role, setRole] = useState<Schemas['Role']>('viewer');
  const create = useMutation({
    mutationFn: () => {
      const params = { path: { workspace_id: caller.workspace.id } };
      return body(api.POST('/v1/workspaces/{workspace_id}/keys', { params, body: { name: name.trim(), role } }));
    },
    onSuccess: () => {
      setName('');
      return client.invalidateQueries({ queryKey: ['keys'] });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (name.trim()) create.mutate();
  };
  return (
    <>
      <form className={style.form} onSubmit={submit}>
        <TextField className={style.grow!} value={name} onChange={setName} maxLength={200}>
          <Label>{t('newKey')}</Label>
          <Input />
        </TextField>
        <Choice label={t('role')} value={role} options={rolesUpTo(caller.role)} onChange={setRole} />
        <Button type="submit" isDisabled={!name.trim() || create.isPending}>
          {t('make')}
        </Button>
      </form>
      <p role="alert" className={style.error}>
        {create.error?.message}
      </p>
      {create.data && <Secret key={create.data.key} label={t('keyOnce')} text={create.data.key} />}
    </>
  );
}
