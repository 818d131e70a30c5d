import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button, Menu, MenuItem, MenuTrigger, Popover } from 'react-aria-components';
import { Link, useLocation } from 'wouter';
import { api, type Schemas } from '../api/client';
import { t } from '../i18n';
import { Confirm, Rename } from '../shell/dialogs';
import style from './session.module.css';
import { useSessions } from './use-sessions';

type Session = Schemas['Session'];
type Action = 'rename' | 'pin' | 'archive' | 'delete';

/** The user's conversations, or the archived ones, with their actions. */
export function SessionList({ current }: { current: string | undefined }) {
  const [archived, setArchived] = useState(false);
  const { data, hasNextPage, fetchNextPage } = useSessions(archived);
  const client = useQueryClient();
  const [chosen, setChosen] = useState<{ session: Session; action: 'rename' | 'delete' }>();
  const change = useMutation({
    mutationFn: ({ id, ...body }: { id: string; pinned?: boolean; archived?: boolean }) =>
      api.PATCH('/v1/sessions/{session_id}', { params: { path: { session_id: id } }, body }),
    onSuccess: () => client.invalidateQueries({ queryKey: ['sessions'] }),
  });
  const act = (session: Session, action: Action) => {
    if (action === 'pin') change.mutate({ id: session.id, pinned: !session.pinned });
    else if (action === 'archive') change.mutate({ id: session.id, archived: !session.archived });
    else setChosen({ session, action });
  };
  return (
    <>
      <h2>{t(archived ? 'archivedSessions' : 'conversations')}</h2>
      <ul>
        {data?.pages
          .flatMap((page) => page.items)
          .map((session) => (
            <li key={session.id}>
              <Link href={`/c/${session.id}`} aria-current={session.id === current ? 'page' : undefined}>
                {session.pinned && (
                  <span role="img" aria-label={t('pinned')}>
                    ★{' '}
                  </span>
                )}
                {session.title ?? t('untitled')}
              </Link>
              <Options session={session} onAction={(action) => act(session, action)} />
            </li>
          ))}
      </ul>
      <p role="alert" className={style.note}>
        {change.error?.message}
      </p>
      {hasNextPage && <Button onPress={() => fetchNextPage()}>{t('more')}</Button>}
      <Button className={style.quiet!} onPress={() => setArchived(!archived)}>
        {t(archived ? 'conversations' : 'archivedSessions')}
      </Button>
      {chosen && <Change {...chosen} isCurrent={chosen.session.id === current} onDone={() => setChosen(undefined)} />}
    </>
  );
}

function Options({ session, onAction }: { session: Session; onAction: (action: Action) => void }) {
  return (
    <MenuTrigger>
      <Button className={style.options!} aria-label={t('optionsOf', { name: session.title ?? t('untitled') })}>
        ⋯
      </Button>
      <Popover className={style.popover!}>
        <Menu onAction={(key) => onAction(key as Action)}>
          <MenuItem id="rename">{t('rename')}</MenuItem>
          <MenuItem id="pin">{t(session.pinned ? 'unpin' : 'pin')}</MenuItem>
          <MenuItem id="archive">{t(session.archived ? 'unarchive' : 'archive')}</MenuItem>
          <MenuItem id="delete">{t('delete')}</MenuItem>
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}

interface ChangeProps {
  session: Session;
  action: 'rename' | 'delete';
  isCurrent: boolean;
  onDone: () => void;
}

function Change({ session, action, isCurrent, onDone }: ChangeProps) {
  const client = useQueryClient();
  const [, go] = useLocation();
  const params = { path: { session_id: session.id } };
  const after = async () => {
    await client.invalidateQueries({ queryKey: ['sessions'] });
    onDone();
  };
  const rename = useMutation({
    mutationFn: (title: string) => api.PATCH('/v1/sessions/{session_id}', { params, body: { title } }),
    onSuccess: after,
  });
  const remove = useMutation({
    mutationFn: () => api.DELETE('/v1/sessions/{session_id}', { params }),
    onSuccess: async () => {
      if (isCurrent) go('/');
      await after();
    },
  });
  const name = session.title ?? t('untitled');
  if (action === 'rename')
    return <Rename name={name} error={rename.error?.message} onName={rename.mutate} onCancel={onDone} />;
  const text = t('deleteSession', { name });
  return <Confirm text={text} error={remove.error?.message} onConfirm={remove.mutate} onCancel={onDone} />;
}
