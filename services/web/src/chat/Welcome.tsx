import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { Link, useLocation } from 'wouter';
import { api, body } from '../api/client';
import { t } from '../i18n';
import { Composer } from './Composer';
import style from './chat.module.css';
import { sendImages } from './images';

/** What the new conversation's page sends as soon as it opens; the key makes a retry idempotent. */
export interface FirstQuestion {
  ask: string;
  key: string;
  /** Images already attached to the new session. */
  images: string[];
  documents: string[];
}

/** The front page: the first question opens a conversation. */
export function Welcome() {
  const [, go] = useLocation();
  const summary = useQuery({ queryKey: ['summary'], queryFn: () => body(api.GET('/v1/documents/summary')) });
  const made = useRef<string>(undefined); // by an earlier attempt, whose images were refused
  const begin = async (ask: string, images: File[], documents: string[]) => {
    made.current ??= (await body(api.POST('/v1/sessions', { body: {} }))).id;
    const sent = await sendImages(made.current, images);
    const state: FirstQuestion = { ask, key: crypto.randomUUID(), images: sent, documents };
    go(`/c/${made.current}`, { state });
  };
  useEffect(() => void import('./Conversation').catch(() => undefined), []); // while the question is being written
  return (
    <main className={style.welcome}>
      <h1>{t('ask')}</h1>
      {summary.data?.total === 0 && (
        <p>
          <Link href="/documents">{t('empty')}</Link>
        </p>
      )}
      <Composer place="new" running={false} onAsk={begin} onStop={() => undefined} />
    </main>
  );
}
