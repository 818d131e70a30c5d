import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, body, Problem } from '../api/client';
import { Answer } from '../chat/Answer';
import chat from '../chat/chat.module.css';
import { day, t } from '../i18n';
import style from '../shell/page.module.css';
import { SignIn } from './SignIn';

const nothing = () => undefined;

/** Shows the shared conversation whose token is in the URL's fragment, which no log sees. */
export default function Shared() {
  const [token] = useState(() => location.hash.slice(1));
  const { data, error, refetch } = useQuery({
    queryKey: ['shared', token],
    queryFn: () => body(api.GET('/v1/shared/{token}', { params: { path: { token } } })),
    enabled: token !== '',
  });
  if (error instanceof Problem && error.status === 401) return <SignIn onDone={() => refetch()} />;
  if (!data)
    return (
      <main className={style.page}>
        <h1>{t('sharedConversation')}</h1>
        <p role="status">{error?.message ?? t(token ? 'loading' : 'notFound')}</p>
      </main>
    );
  return (
    <main className={style.page}>
      <h1>{data.title ?? t('untitled')}</h1>
      <p className={style.quiet}>{t('sharedFromTo', { from: day(data.created_at), to: day(data.expires_at) })}</p>
      {data.messages.map((message, index) =>
        message.role === 'user' ? (
          <p key={index} className={chat.question}>
            {message.content}
          </p>
        ) : (
          <article key={index} className={chat.answer}>
            {message.withheld ? (
              <p className={style.quiet}>{t('withheld')}</p>
            ) : (
              <Answer text={message.content} citations={[]} onOpen={nothing} />
            )}
            <ol className={style.quiet}>
              {message.citations?.map((citation) => (
                <li key={citation.number} value={citation.number}>
                  {citation.document_name}
                  {citation.page && `, ${t('page', { page: citation.page })}`}
                  {citation.quote && ` “${citation.quote}”`}
                </li>
              ))}
            </ol>
          </article>
        ),
      )}
    </main>
  );
}
