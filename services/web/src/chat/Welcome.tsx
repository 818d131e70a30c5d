import { useMutation, useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { Link, useLocation } from 'wouter';
import { api, body } from '../api/client';
import { t } from '../i18n';
import { Composer } from './Composer';
import style from './chat.module.css';

/** What the new conversation's page sends as soon as it is open; the key makes a repeat harmless. */
export interface FirstQuestion {
  ask: string;
  key: string;
}

/** The front page: the first question opens a conversation. */
export function Welcome() {
  const [, go] = useLocation();
  const summary = useQuery({ queryKey: ['summary'], queryFn: () => body(api.GET('/v1/documents/summary')) });
  const begin = useMutation({
    mutationFn: async (ask: string) => {
      const session = await body(api.POST('/v1/sessions', { body: {} }));
      const state: FirstQuestion = { ask, key: crypto.randomUUID() };
      go(`/c/${session.id}`, { state });
    },
  });
  useEffect(() => void import('./Conversation'), []); // it is there when the question has been written
  return (
    <main className={style.welcome}>
      <h1>{t('ask')}</h1>
      {summary.data?.total === 0 && (
        <p>
          <Link href="/documents">{t('empty')}</Link>
        </p>
      )}
      <Composer running={false} busy={begin.isPending} onAsk={begin.mutate} onStop={() => undefined} />
      <p role="alert">{begin.error?.message}</p>
    </main>
  );
}
