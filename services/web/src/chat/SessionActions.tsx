import { useMutation } from '@tanstack/react-query';
import { Suspense, useState } from 'react';
import { Button } from 'react-aria-components';
import { Link } from 'wouter';
import { saveFile } from '../api/save';
import { t } from '../i18n';
import { lazily } from '../shell/lazily';
import style from './chat.module.css';

const Share = lazily(() => import('./Share'));

/** Actions on a whole conversation: open its world state, export it, share it. */
export function SessionActions({ sessionId, title }: { sessionId: string; title: string }) {
  const [sharing, setSharing] = useState(false);
  const path = `/v1/sessions/${sessionId}/export?format=markdown`;
  const name = `${title.replace(/[^\p{L}\p{N} _-]/gu, '').slice(0, 80) || 'conversation'}.md`;
  const save = useMutation({ mutationFn: () => saveFile(path, name) });
  return (
    <div className={style.actions}>
      {save.error && <span role="alert">{save.error.message}</span>}
      <Link href={`/memory/world?session=${sessionId}`}>{t('worldState')}</Link>
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
