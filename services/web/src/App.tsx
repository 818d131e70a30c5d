import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Suspense } from 'react';
import { Route, Switch, useRoute } from 'wouter';
import { api, body, Problem } from './api/client';
import style from './app.module.css';
import { Welcome } from './chat/Welcome';
import { t } from './i18n';
import { fetchMe } from './session/early';
import { Join } from './session/Join';
import { Sessions } from './session/Sessions';
import { SignIn } from './session/SignIn';
import { Workspaces } from './session/Workspaces';
import { lazily } from './shell/lazily';
import { Notices } from './shell/Notices';
import { useChanges } from './shell/use-changes';

const Conversation = lazily(() => import('./chat/Conversation'), 'main');
const Documents = lazily(() => import('./documents/Documents'), 'main');
const Search = lazily(() => import('./search/Search'), 'main');
const Graph = lazily(() => import('./graph/Graph'), 'main');
const Shared = lazily(() => import('./session/Shared'), 'main');
const Admin = lazily(() => import('./admin/Admin'), 'main');
const Memory = lazily(() => import('./memory/Memory'), 'main');

export function App() {
  const client = useQueryClient();
  const [isInvited] = useRoute('/join');
  const [isShared] = useRoute('/shared');
  const me = useQuery({
    queryKey: ['me'],
    queryFn: () => body(api.GET('/v1/me', { fetch: fetchMe })),
    enabled: !isInvited && !isShared,
  });
  useChanges(me.data);
  const [, route] = useRoute('/c/:id');
  const again = () => client.resetQueries();
  if (isInvited) return <Join onDone={again} />;
  if (isShared)
    return (
      <Suspense fallback={<main aria-busy />}>
        <Shared />
      </Suspense>
    );
  if (me.error instanceof Problem && me.error.status === 401) return <SignIn onDone={again} />;
  if (me.error instanceof Problem && ['workspace-not-chosen', 'workspace-not-found'].includes(me.error.type))
    return <Workspaces onDone={again} />;
  if (!me.data)
    return (
      <main className={style.empty}>
        <p role="status">{me.error?.message ?? t('loading')}</p>
      </main>
    );
  const { role } = me.data;
  return (
    <div className={style.shell}>
      <Sessions caller={me.data} current={route?.id} onSignedOut={again} />
      <Suspense fallback={<main aria-busy />}>
        <Switch>
          <Route path="/" component={Welcome} />
          <Route path={/^\/documents(\/sources)?$/}>
            <Documents role={role} />
          </Route>
          <Route path="/search" component={Search} />
          <Route path="/graph" component={Graph} />
          <Route path={/^\/memory(\/world)?$/}>
            <Memory caller={me.data} />
          </Route>
          <Route path="/admin/:part?">
            <Admin caller={me.data} />
          </Route>
          <Route path="/c/:id">{({ id }) => <Conversation key={id} sessionId={id} />}</Route>
          <Route>
            <main className={style.empty}>
              <h1>{t('notFound')}</h1>
            </main>
          </Route>
        </Switch>
      </Suspense>
      <Notices />
    </div>
  );
}
