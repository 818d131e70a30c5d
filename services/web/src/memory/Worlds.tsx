import { useQuery } from '@tanstack/react-query';
import { Link, useSearchParams } from 'wouter';
import { api, body } from '../api/client';
import { t } from '../i18n';
import { useSessions } from '../session/use-sessions';
import { Choice } from '../shell/Choice';
import style from '../shell/page.module.css';
import { WorldState } from './WorldState';
import { worldOptions } from './world';

interface Props {
  /** Whether the user may change the workspace's world; users may always change those of their conversations. */
  mayChangeShared: boolean;
  userId: string;
}

/** The world state of the workspace, or of the conversation in the URL. */
export function Worlds({ mayChangeShared, userId }: Props) {
  const [search, setSearch] = useSearchParams();
  const sessionId = search.get('session') ?? undefined;
  const { data: sessions } = useSessions();
  const { data: named } = useQuery({
    queryKey: ['session-of-memory', sessionId],
    enabled: sessionId !== undefined,
    queryFn: () => body(api.GET('/v1/sessions/{session_id}', { params: { path: { session_id: sessionId! } } })),
  });
  const listed = sessions?.pages.flatMap((page) => page.items) ?? [];
  const choose = (id: string) =>
    setSearch((now) => {
      if (id) now.set('session', id);
      else now.delete('session');
      return now;
    });
  return (
    <>
      <div className={style.form}>
        <Choice
          label={t('whoseWorld')}
          value={sessionId ?? ''}
          options={[
            { value: '', name: t('ofWorkspace') },
            ...worldOptions(sessionId, named, listed).map(({ id, title }) => ({
              value: id,
              name: title ?? t('untitled'),
            })),
          ]}
          onChange={choose}
        />
        {named && <Link href={`/c/${named.id}`}>{t('openConversation')}</Link>}
      </div>
      <WorldState
        key={sessionId}
        sessionId={sessionId}
        mayChange={mayChangeShared || sessionId !== undefined}
        userId={userId}
      />
    </>
  );
}
