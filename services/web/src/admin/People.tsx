import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from 'react-aria-components';
import { api, body, type Schemas } from '../api/client';
import { t } from '../i18n';
import { Choice } from '../shell/Choice';
import { Confirm } from '../shell/dialogs';
import style from '../shell/page.module.css';
import { Invitations } from './Invitations';
import { ROLES, rolesUpTo } from './roles';
import { useMembers } from './use-names';

type Caller = Schemas['Caller'];
type Member = Schemas['Member'];

/** The members of the workspace with their roles, its invitations, and whether sharing by link is allowed. */
export function People({ caller }: { caller: Caller }) {
  const client = useQueryClient();
  const { data, error } = useMembers(caller);
  const [leaving, setLeaving] = useState<Member>();
  const place = (userId: string) => ({ params: { path: { workspace_id: caller.workspace.id, user_id: userId } } });
  const onSuccess = async () => {
    setLeaving(undefined);
    await client.invalidateQueries({ queryKey: ['members'] });
  };
  const change = useMutation({
    mutationFn: ({ id, role }: { id: string; role: Schemas['Role'] }) =>
      api.PUT('/v1/workspaces/{workspace_id}/members/{user_id}', { ...place(id), body: { role } }),
    onSuccess,
  });
  const remove = useMutation({
    mutationFn: (id: string) => api.DELETE('/v1/workspaces/{workspace_id}/members/{user_id}', place(id)),
    onSuccess,
  });
  return (
    <>
      <h2>{t('members')}</h2>
      <p role="status">{error?.message ?? (data ? '' : t('loading'))}</p>
      <p role="alert" className={style.error}>
        {change.error?.message}
      </p>
      <ul className={style.rows}>
        {data?.map((member) => (
          <li key={member.user_id}>
            <span className={style.words}>{member.name}</span>
            {member.user_id === caller.user.id ? (
              <span className={style.badge}>{t('yourself', { role: t(ROLES[member.role]) })}</span>
            ) : (
              <>
                <Choice
                  hidden
                  label={t('roleOf', { name: member.name })}
                  value={member.role}
                  options={rolesUpTo('owner')}
                  onChange={(role) => change.mutate({ id: member.user_id, role })}
                />
                <Button onPress={() => setLeaving(member)} aria-label={`${t('remove')}: ${member.name}`}>
                  {t('remove')}
                </Button>
              </>
            )}
          </li>
        ))}
      </ul>
      <Invitations workspaceId={caller.workspace.id} />
      <Links />
      {leaving && (
        <Confirm
          text={t('removeMember', { name: leaving.name })}
          action={t('remove')}
          error={remove.error?.message}
          onConfirm={() => remove.mutate(leaving.user_id)}
          onCancel={() => setLeaving(undefined)}
        />
      )}
    </>
  );
}

/** The switch that lets members share conversations by link. */
function Links() {
  const client = useQueryClient();
  const { data } = useQuery({ queryKey: ['sharing'], queryFn: () => body(api.GET('/v1/sharing')) });
  const change = useMutation({
    mutationFn: (links: boolean) => api.PATCH('/v1/sharing', { body: { links } }),
    onSuccess: () => client.invalidateQueries({ queryKey: ['sharing'] }),
  });
  if (!data) return null;
  return (
    <>
      <h2>{t('sharing')}</h2>
      <p className={style.form}>
        <label className={style.check}>
          <input
            type="checkbox"
            checked={data.links ?? false}
            onChange={({ target }) => change.mutate(target.checked)}
          />
          {t('allowLinks')}
        </label>
      </p>
      <p role="alert" className={style.error}>
        {change.error?.message}
      </p>
    </>
  );
}
