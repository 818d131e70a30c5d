import { useMutation } from '@tanstack/react-query';
import { useDeferredValue, useState } from 'react';
import { Button, Input, SearchField } from 'react-aria-components';
import { Link, useLocation } from 'wouter';
import { api, type Schemas } from '../api/client';
import { chooseWorkspace } from '../api/workspace';
import { t } from '../i18n';
import { Commands } from '../shell/Commands';
import { PAGES } from '../shell/pages';
import { deletions } from '../shell/undo';
import { FoundSessions } from './FoundSessions';
import { SessionList } from './SessionList';
import style from './session.module.css';

interface Props {
  caller: Schemas['Caller'];
  current: string | undefined;
  onSignedOut: () => void;
}

/** The sidebar: pages, the user's conversations, sign-out. On a narrow screen it collapses into its header. */
export function Sessions({ caller, current, onSignedOut }: Props) {
  const [path] = useLocation();
  const [openedAt, setOpenedAt] = useState<string>();
  const [text, setText] = useState('');
  const words = useDeferredValue(text.trim());
  const signOut = useMutation({
    mutationFn: async () => {
      await deletions.flush(); // they need the session that ends
      return api.POST('/v1/auth/sign-out');
    },
    onSuccess: () => {
      chooseWorkspace(null);
      onSignedOut();
    },
  });
  const open = openedAt === path; // navigation collapses it
  const here = (target: string) =>
    path === target || (target !== '/' && path.startsWith(`${target}/`)) ? ('page' as const) : undefined;
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
        {PAGES.map(({ href, name }) => (
          <Link key={href} href={href} aria-current={here(href)}>
            {t(name)}
          </Link>
        ))}
        <Commands role={caller.role} onSignOut={signOut.mutate} />
        <SearchField className={style.search!} aria-label={t('searchSessions')} value={text} onChange={setText}>
          <Input placeholder={t('searchSessions')} maxLength={1_000} />
        </SearchField>
        {words ? <FoundSessions words={words} /> : <SessionList current={current} />}
        <div className={style.person}>
          <span>
            {caller.user.name} · {caller.workspace.name}
          </span>
          <Button onPress={() => signOut.mutate()}>{t('signOut')}</Button>
        </div>
      </div>
    </nav>
  );
}
