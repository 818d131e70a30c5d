import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from 'react-aria-components';
import { api, type Schemas } from '../api/client';
import { useQuickActions } from '../api/use-quick-actions';
import { t } from '../i18n';
import { Confirm } from '../shell/dialogs';
import style from '../shell/page.module.css';
import { QuickActionForm } from './QuickActionForm';
import { mayWrite } from './quick-actions';

type QuickAction = Schemas['QuickAction'];

/** Named prompts of the user and of the workspace for rewriting an artifact. */
export function QuickActions({ caller: { role } }: { caller: Schemas['Caller'] }) {
  const client = useQueryClient();
  const [open, setOpen] = useState<{ action?: QuickAction; act: 'write' | 'delete' }>();
  const { data, error } = useQuickActions();
  const done = async () => {
    await client.invalidateQueries({ queryKey: ['quick-actions'] });
    setOpen(undefined);
  };
  const remove = useMutation({
    mutationFn: ({ id, version }: QuickAction) => {
      const params = { path: { action_id: id }, header: { 'if-match': `"${version}"` } };
      return api.DELETE('/v1/quick-actions/{action_id}', { params });
    },
    onSuccess: done,
  });
  if (open?.act === 'write')
    return <QuickActionForm action={open.action} role={role} onDone={done} onCancel={() => setOpen(undefined)} />;
  return (
    <>
      <p className={style.quiet}>{t('quickActionsHint')}</p>
      {data && (
        <Button className={style.primary!} onPress={() => setOpen({ act: 'write' })}>
          {t('newQuickAction')}
        </Button>
      )}
      <p role="status">{error?.message ?? (data ? data.length === 0 && t('noQuickActions') : t('loading'))}</p>
      <ul className={style.rows}>
        {data?.map((action) => (
          <li key={action.id}>
            <span className={style.words}>
              <strong>{action.name}</strong>
              <span>{action.prompt}</span>
              <span className={style.quiet}>{[...parts(action)].join(' · ')}</span>
            </span>
            <span className={style.badge}>{t(action.shared ? 'ofWorkspace' : 'ofMine')}</span>
            {mayWrite(role, action) && (
              <div className={style.actions}>
                <Button onPress={() => setOpen({ action, act: 'write' })} aria-label={`${t('edit')}: ${action.name}`}>
                  {t('edit')}
                </Button>
                <Button
                  onPress={() => setOpen({ action, act: 'delete' })}
                  aria-label={`${t('delete')}: ${action.name}`}
                >
                  {t('delete')}
                </Button>
              </div>
            )}
          </li>
        ))}
      </ul>
      {open?.action && (
        <Confirm
          text={t('deleteQuickAction', { name: open.action.name })}
          error={remove.error?.message}
          onConfirm={() => remove.mutate(open.action!)}
          onCancel={() => setOpen(undefined)}
        />
      )}
    </>
  );
}

function* parts({ target, use_history: history, use_preferences: preferences }: QuickAction) {
  if (target === 'message') yield t('ofAnswers');
  if (history) yield t('withHistory');
  if (preferences) yield t('withPreferences');
}
