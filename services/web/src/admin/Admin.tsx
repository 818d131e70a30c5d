import { Route, Switch } from 'wouter';
import type { Schemas } from '../api/client';
import { t } from '../i18n';
import { Presets } from '../settings/Presets';
import { QuickActions } from '../settings/QuickActions';
import { Settings } from '../settings/Settings';
import style from '../shell/page.module.css';
import { Sections } from '../shell/Sections';
import { Audit } from './Audit';
import { Keys } from './Keys';
import { Limits } from './Limits';
import { People } from './People';
import { type PartName, partsFor } from './parts';
import { Runs } from './Runs';
import { Status } from './Status';
import { Usage } from './Usage';

type Caller = Schemas['Caller'];

const PAGES: Record<PartName, (props: { caller: Caller }) => React.ReactNode> = {
  status: Status,
  runs: Runs,
  usage: Usage,
  settings: Settings,
  presets: Presets,
  quickActions: QuickActions,
  keys: Keys,
  people: People,
  limits: Limits,
  audit: Audit,
};

/** The administration of the workspace: operations, usage, settings, people, the audit trail. */
export default function Admin({ caller }: { caller: Caller }) {
  const parts = partsFor(caller.role);
  return (
    <main className={style.page}>
      <h1>{t('admin')}</h1>
      <Sections label={t('admin')} parts={parts.map(({ href, name }) => ({ href, name: t(name) }))} />
      <Switch>
        {parts.map(({ href, name }) => {
          const Shown = PAGES[name];
          return (
            <Route key={href} path={href}>
              <Shown caller={caller} />
            </Route>
          );
        })}
        <Route>
          <p>{t('notFound')}</p>
        </Route>
      </Switch>
    </main>
  );
}
