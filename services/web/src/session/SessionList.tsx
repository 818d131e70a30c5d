import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button, Menu, MenuItem, MenuTrigger, Popover } from 'react-aria-components';
import { Link, useLocation } from 'wouter';
import { api, body, type Schemas } from '../api/client';
import { t } from '../i18n';
import { Rename } from '../shell/dialogs';
import { receiptOf } from '../shell/receipts';
import { deletions } from '../shell/undo';
import { useHidden } from '../shell/use-deletions';
import style from './session.module.css';
import { keyOf, useSessions } from './use-sessions';

type Session = Schemas['Session'];
type Action = 'rename' | 'pin' | 'archive' | 'delete';

/** The user's conversations, or the archived ones, with their actions. */
export function SessionList({ current }: { current: string | undefined }) {
  const [archived, setArchived] = useState(false);
  const { data, hasNextPage, fetchNextPage } = useSessions(archived);
  const client = useQueryClient();
  const [, go] = useLocation();
  const hidden = useHidden();
  const [renamed, setRenamed] = useState<Session>();
  const change = useMutation({
    mutationFn: ({ id, ...body }: { id: string; pinned?: boolean; archived?: boolean }) =>
      api.PATCH('/v1/sessions/{session_id}', { params: { path: { session_id: id } }, body }),
    onSuccess: () => client.invalidateQueries({ queryKey: ['sessions'] }),
  });
  const act = (session: Session, action: Action) => {
    if (action === 'pin') change.mutate({ id: session.id, pinned: !session.pinned });
    else if (action === 'archive') change.mutate({ id: session.id, archived: !session.archived });
    else if (action === 'rename') setRenamed(session);
    else remove(session);
  };
  const remove = ({ id, title }: Session) => {
    const isCurrent = id === current;
    const params = { path: { session_id: id } };
    if (isCurrent) go('/');
    deletions.later({
      key: keyOf(id),
      text: t('sessionDeleted', { name: title ?? t('untitled') }),
      send: async () => receiptOf(await body(api.DELETE('/v1/sessions/{session_id}', { params, keepalive: true }))),
      after: () => client.invalidateQueries({ queryKey: ['sessions'] }),
      undone: () => isCurrent && go(`/c/${id}`),
    });
  };
  return (
    <>
      <h2>{t(archived ? 'archivedSessions' : 'conversations')}</h2>
      <ul>
        {data?.pages
          .flatMap((page) => page.items)
          .filter(({ id }) => !hidden.has(keyOf(id)))
          .map((session) => (
            <li key={session.id}>
              <Link
                href={`/c/${session.id}`}
                aria-current={session.id === current ? 'page' : undefined}
                title={session.title ?? undefined}
              >
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
      {renamed && <NewName session={renamed} onDone={() => setRenamed(undefined)} />}
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

function NewName({ session, onDone }: { session: Session; onDone: () => void }) {
  const client = useQueryClient();
  const rename = useMutation({
    mutationFn: (title: string) =>
      api.PATCH('/v1/sessions/{session_id}', { params: { path: { session_id: session.id } }, body: { title } }),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ['sessions'] });
      onDone();
    },
  });
  const name = session.title ?? t('untitled');
  return <Rename name={name} error={rename.error?.message} onName={rename.mutate} onCancel={onDone} />;
}
