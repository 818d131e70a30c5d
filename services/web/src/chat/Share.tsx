import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button, Dialog, Heading, Modal } from 'react-aria-components';
import { api, body, everyPage, type Schemas } from '../api/client';
import { day, t } from '../i18n';
import { Choice } from '../shell/Choice';
import dialog from '../shell/dialogs.module.css';
import style from '../shell/page.module.css';
import { Secret } from '../shell/Secret';

type Audience = Schemas['ShareAudience'];

/** Shares a snapshot of the conversation, lists its shares, and ends them. */
export default function Share({ sessionId, onClose }: { sessionId: string; onClose: () => void }) {
  const client = useQueryClient();
  const [audience, setAudience] = useState<Audience>('members');
  const allowed = useQuery({ queryKey: ['sharing'], queryFn: () => body(api.GET('/v1/sharing')) });
  const shares = useQuery({
    queryKey: ['shares', sessionId],
    queryFn: () =>
      everyPage((cursor) => body(api.GET('/v1/shares', { params: { query: { session_id: sessionId, ...cursor } } }))),
  });
  const onSuccess = () => client.invalidateQueries({ queryKey: ['shares', sessionId] });
  const create = useMutation({
    mutationFn: () => {
      const params = { path: { session_id: sessionId } };
      return body(api.POST('/v1/sessions/{session_id}/shares', { params, body: { audience } }));
    },
    onSuccess,
  });
  const end = useMutation({
    mutationFn: (id: string) => api.DELETE('/v1/shares/{share_id}', { params: { path: { share_id: id } } }),
    onSuccess: () => {
      create.reset();
      return onSuccess();
    },
  });
  const options = [
    { value: 'members' as const, name: t('shareMembers') },
    ...(allowed.data?.links ? [{ value: 'link' as const, name: t('shareLink') }] : []),
  ];
  const error = create.error ?? end.error ?? shares.error;
  return (
    <Modal isOpen isDismissable className={dialog.modal!} onOpenChange={onClose}>
      <Dialog className={dialog.dialog!}>
        <Heading slot="title">{t('share')}</Heading>
        <p className={style.quiet}>{t('shareHint')}</p>
        <div className={style.form}>
          <Choice label={t('shareWith')} value={audience} options={options} onChange={setAudience} />
          <Button onPress={() => create.mutate()} isDisabled={create.isPending} autoFocus>
            {t('makeLink')}
          </Button>
        </div>
        {create.data && (
          <Secret key={create.data.id} label={t('linkOnce')} text={`${location.origin}/shared#${create.data.token}`} />
        )}
        <p role="alert" className={style.error}>
          {error?.message}
        </p>
        <ul className={style.rows}>
          {shares.data?.map((each) => (
            <li key={each.id}>
              <span className={style.words}>
                {t(each.audience === 'link' ? 'shareLink' : 'shareMembers')}
                <span className={style.quiet}>
                  {t('sharedFromTo', { from: day(each.created_at), to: day(each.expires_at) })}
                </span>
              </span>
              <Button onPress={() => end.mutate(each.id)}>{t('endShare')}</Button>
            </li>
          ))}
        </ul>
        <div className={dialog.actions}>
          <Button onPress={onClose}>{t('close')}</Button>
        </div>
      </Dialog>
    </Modal>
  );
}
