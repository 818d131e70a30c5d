import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Button, Input, Label, TextField } from 'react-aria-components';
import { api, body, everyPage, type Schemas } from '../api/client';
import { day, type Key, t } from '../i18n';
import { Choice } from '../shell/Choice';
import style from '../shell/page.module.css';
import { Secret } from '../shell/Secret';
import { ROLES, rolesUpTo } from './roles';

type Invitation = Schemas['Invitation'];
const STATES = {
  open: 'invitationOpen',
  accepted: 'invitationAccepted',
  expired: 'invitationExpired',
  revoked: 'revoked',
} as const satisfies Record<Invitation['status'], Key>;

/** Invites people by a link that is shown once, and lists the invitations. */
export function Invitations({ workspaceId }: { workspaceId: string }) {
  const client = useQueryClient();
  const [name, setName] = useState('');
  const [role, setRole] = useState<Schemas['Role']>('viewer');
  const path = { workspace_id: workspaceId };
  const { data, error } = useQuery({
    queryKey: ['invitations'],
    queryFn: () =>
      everyPage((cursor) => {
        const params = { path, query: { limit: 200, ...cursor } };
        return body(api.GET('/v1/workspaces/{workspace_id}/invitations', { params }));
      }),
  });
  const again = () => client.invalidateQueries({ queryKey: ['invitations'] });
  const invite = useMutation({
    mutationFn: () => {
      const wanted = { role, ...(name.trim() && { name: name.trim() }) };
      return body(api.POST('/v1/workspaces/{workspace_id}/invitations', { params: { path }, body: wanted }));
    },
    onSuccess: () => {
      setName('');
      return again();
    },
  });
  const revoke = useMutation({
    mutationFn: (id: string) =>
      api.DELETE('/v1/workspaces/{workspace_id}/invitations/{invitation_id}', {
        params: { path: { ...path, invitation_id: id } },
      }),
    onSuccess: again,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    invite.mutate();
  };
  return (
    <>
      <h2>{t('invitations')}</h2>
      <form className={style.form} onSubmit={submit}>
        <TextField className={style.grow!} value={name} onChange={setName} maxLength={200}>
          <Label>{t('inviteeName')}</Label>
          <Input />
        </TextField>
        <Choice label={t('role')} value={role} options={rolesUpTo('owner')} onChange={setRole} />
        <Button type="submit" isDisabled={invite.isPending}>
          {t('invite')}
        </Button>
      </form>
      <p role="alert" className={style.error}>
        {(invite.error ?? revoke.error ?? error)?.message}
      </p>
      {invite.data && (
        <Secret key={invite.data.id} label={t('linkOnce')} text={invite.data.link ?? invite.data.token} />
      )}
      <ul className={style.rows}>
        {data?.map((invitation) => (
          <li key={invitation.id}>
            <span className={style.words}>
              {invitation.name ?? t('noName')}
              <span className={style.quiet}>
                {`${t('madeOn', { day: day(invitation.created_at) })} · ${t('expiresOn', { day: day(invitation.expires_at) })}`}
              </span>
            </span>
            <span className={style.badge}>{t(ROLES[invitation.role])}</span>
            <span className={style.badge} data-tone={invitation.status === 'open' ? 'good' : undefined}>
              {t(STATES[invitation.status])}
            </span>
            {invitation.status === 'open' && (
              <Button
                onPress={() => revoke.mutate(invitation.id)}
                aria-label={`${t('revoke')}: ${invitation.name ?? t('noName')}`}
              >
                {t('revoke')}
              </Button>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}
