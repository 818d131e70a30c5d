import { useMutation } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { Button } from 'react-aria-components';
import { Problem } from '../api/client';
import { workspaceHeaders } from '../api/workspace';
import { t } from '../i18n';
import style from './chat.module.css';

const Share = lazy(() => import('./Share'));

/** What can be done with a conversation as a whole: give it to others, take it along. */
export function SessionActions({ sessionId, title }: { sessionId: string; title: string }) {
  const [sharing, setSharing] = useState(false);
  const save = useMutation({ mutationFn: () => exportSession(sessionId, title) });
  return (
    <div className={style.actions}>
      {save.error && <span role="alert">{save.error.message}</span>}
      <Button onPress={() => save.mutate()} isDisabled={save.isPending}>
        {t('export')}
      </Button>
      <Button onPress={() => setSharing(true)}>{t('share')}</Button>
      {sharing && (
        <Suspense>
          <Share sessionId={sessionId} onClose={() => setSharing(false)} />
        </Suspense>
      )}
    </div>
  );
}

/** Saves the conversation as a Markdown file. A plain link could not name the workspace. */
async function exportSession(sessionId: string, title: string): Promise<void> {
  const response = await fetch(`/v1/sessions/${sessionId}/export?format=markdown`, { headers: workspaceHeaders() });
  if (!response.ok) throw await Problem.of(response);
  const url = URL.createObjectURL(await response.blob());
  const link = document.createElement('a');
  link.href = url;
  link.download = `${title.replace(/[^\p{L}\p{N} _-]/gu, '').slice(0, 80) || 'conversation'}.md`;
  link.click();
  URL.revokeObjectURL(url);
}
