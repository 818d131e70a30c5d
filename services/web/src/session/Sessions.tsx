import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button, Menu, MenuItem, MenuTrigger, Popover } from 'react-aria-components';
import { Link, useLocation } from 'wouter';
import { api, type Schemas } from '../api/client';
import { chooseWorkspace } from '../api/workspace';
import { t } from '../i18n';
import { Confirm, Rename } from '../shell/dialogs';
import style from './session.module.css';
import { useSessions } from './use-sessions';

type Session = Schemas['Session'];

interface Props {
  caller: Schemas['Caller'];
  current: string | undefined;
  onSignedOut: () => void;
}

/** The sidebar: the pages, the person's conversations, the way out. On a narrow screen it folds into its head. */
export function Sessions({ caller, current, onSignedOut }: Props) {
  const [path] = useLocation();
  const [openedAt, setOpenedAt] = useState<string>();
  const { data, hasNextPage, fetchNextPage } = useSessions();
  const [chosen, setChosen] = useState<{ session: Session; action: 'rename' | 'delete' }>();
  const signOut = useMutation({
    mutationFn: () => api.POST('/v1/auth/sign-out'),
    onSuccess: () => {
      chooseWorkspace(null);
      onSignedOut();
    },
  });
  const open = openedAt === path; // going to a page folds it
  const here = (target: string) => (path === target ? ('page' as const) : undefined);
  return (
    <nav className={style.sidebar} aria-label={t('menu')} data-open={open}>
      <div className={style.head}>
        <Link href="/" className={style.brand!}>
          Attractor
        </Link>
        <Button
          className={style.fold!}
          aria-expanded={open}
          aria-controls="menu"
          onPress={() => setOpenedAt(open ? undefined : path)}
        >
          {t('menu')}
        </Button>
      </div>
      <div id="menu" className={style.menu}>
        <Link href="/" aria-current={here('/')}>
          {t('newSession')}
        </Link>
        <Link href="/documents" aria-current={here('/documents')}>
          {t('documents')}
        </Link>
        <h2>{t('conversations')}</h2>
        <ul>
          {data?.pages
            .flatMap((page) => page.items)
            .map((session) => (
              <li key={session.id}>
                <Link href={`/c/${session.id}`} aria-current={session.id === current ? 'page' : undefined}>
                  {session.title ?? t('untitled')}
                </Link>
                <Options session={session} onAction={(action) => setChosen({ session, action })} />
              </li>
            ))}
        </ul>
        {hasNextPage && <Button onPress={() => fetchNextPage()}>{t('more')}</Button>}
        <div className={style.person}>
          <span>
            {caller.user.name} · {caller.workspace.name}
          </span>
          <Button onPress={() => signOut.mutate()}>{t('signOut')}</Button>
        </div>
      </div>
      {chosen && <Change {...chosen} isCurrent={chosen.session.id === current} onDone={() => setChosen(undefined)} />}
    </nav>
  );
}

function Options({ session, onAction }: { session: Session; onAction: (action: 'rename' | 'delete') => void }) {
  return (
    <MenuTrigger>
      <Button className={style.options!} aria-label={t('optionsOf', { name: session.title ?? t('untitled') })}>
        ⋯
      </Button>
      <Popover className={style.popover!}>
        <Menu onAction={(key) => onAction(key as 'rename' | 'delete')}>
          <MenuItem id="rename">{t('rename')}</MenuItem>
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
