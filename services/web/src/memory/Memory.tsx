import { Route, Switch } from 'wouter';
import type { Schemas } from '../api/client';
import { t } from '../i18n';
import style from '../shell/page.module.css';
import { Sections } from '../shell/Sections';
import { Remembered } from './Remembered';
import { Worlds } from './Worlds';

/** What is remembered about the user, and the world states of the workspace and each conversation. */
export default function Memory({ caller }: { caller: Schemas['Caller'] }) {
  const mayChange = caller.role !== 'viewer';
  const parts = [
    { href: '/memory', name: t('aboutMe') },
    { href: '/memory/world', name: t('worldState') },
  ];
  return (
    <main className={style.page}>
      <h1>{t('memory')}</h1>
      <Sections label={t('memory')} parts={parts} />
      <Switch>
        <Route path="/memory/world">
          <Worlds mayChangeShared={mayChange} userId={caller.user.id} />
        </Route>
        <Route>
          <Remembered mayChange={mayChange} isOwner={caller.role === 'owner'} />
        </Route>
      </Switch>
    </main>
  );
}
