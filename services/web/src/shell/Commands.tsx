import { Suspense, useEffect, useState } from 'react';
import { Button } from 'react-aria-components';
import type { Schemas } from '../api/client';
import { t } from '../i18n';
import style from './dialogs.module.css';
import { lazily } from './lazily';

const Palette = lazily(() => import('./Palette'));
const KeyList = lazily(() => import('./KeyList'));
type Open = 'palette' | 'keys' | undefined;

/** The command palette (Ctrl-K or a button) and the list of keyboard shortcuts (Ctrl-/), available anywhere. */
export function Commands({ role, onSignOut }: { role: Schemas['Role']; onSignOut: () => void }) {
  const [open, setOpen] = useState<Open>();
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey || event.isComposing) return;
      const wanted = event.key === 'k' ? 'palette' : event.key === '/' ? 'keys' : undefined;
      if (!wanted) return;
      event.preventDefault();
      setOpen(wanted);
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
  const close = () => setOpen(undefined);
  return (
    <>
      <Button className={style.opener!} onPress={() => setOpen('palette')}>
        {t('commands')} <kbd>{t('commandsKey')}</kbd>
      </Button>
      <Suspense>
        {open === 'palette' && (
          <Palette role={role} onClose={close} onKeys={() => setOpen('keys')} onSignOut={onSignOut} />
        )}
        {open === 'keys' && <KeyList onClose={close} />}
      </Suspense>
    </>
  );
}
