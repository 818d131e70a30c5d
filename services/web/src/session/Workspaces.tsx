import { useQuery } from '@tanstack/react-query';
import { Button } from 'react-aria-components';
import { api, body, everyPage } from '../api/client';
import { chooseWorkspace } from '../api/workspace';
import { t } from '../i18n';
import style from './session.module.css';

/** Lets a member of several workspaces choose one. */
export function Workspaces({ onDone }: { onDone: () => void }) {
  const { data, error } = useQuery({
    queryKey: ['workspaces'],
    queryFn: () => everyPage((cursor) => body(api.GET('/v1/auth/workspaces', { params: { query: cursor } }))),
  });
  const choose = (id: string) => {
    chooseWorkspace(id);
    onDone();
  };
  return (
    <main className={style.signIn}>
      <h1>{t('chooseWorkspace')}</h1>
      {data?.map(({ workspace }) => (
        <Button key={workspace.id} onPress={() => choose(workspace.id)}>
          {workspace.name}
        </Button>
      ))}
      <p role="alert">{error?.message}</p>
    </main>
  );
}
