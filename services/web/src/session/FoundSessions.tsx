import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Button } from 'react-aria-components';
import { useLocation } from 'wouter';
import { api, type Schemas } from '../api/client';
import { t } from '../i18n';
import { useHidden } from '../shell/use-deletions';
import style from './session.module.css';
import { keyOf, useFoundSessions } from './use-sessions';

type Hit = Schemas['SessionHit'];

/** The conversations that contain the words; each opens at the branch of the message found. */
export function FoundSessions({ words }: { words: string }) {
  const [, go] = useLocation();
  const client = useQueryClient();
  const { data, error, isPending, hasNextPage, fetchNextPage } = useFoundSessions(words);
  const hidden = useHidden();
  const found = data?.pages.flatMap((page) => page.items) ?? [];
  const hits = found.filter(({ session_id: id }) => !hidden.has(keyOf(id)));
  const open = useMutation({
    mutationFn: async ({ session_id, message_id }: Hit) => {
      const params = { path: { session_id } };
      if (message_id) await api.PUT('/v1/sessions/{session_id}/head', { params, body: { message_id, newest: true } });
      await client.invalidateQueries({ queryKey: ['messages', session_id] });
      go(`/c/${session_id}`);
    },
  });
  const failure = (open.error ?? error)?.message;
  return (
    <>
      <p role="status" className={style.note}>
        {failure ?? (isPending ? t('loading') : hits.length === 0 ? t('nothingFound') : '')}
      </p>
      <ul>
        {hits.map((hit) => (
          <li key={hit.message_id ?? hit.session_id}>
            <Button className={style.hit!} onPress={() => open.mutate(hit)}>
              <strong>{hit.title ?? t('untitled')}</strong>
              {hit.message_id && <span>{hit.snippet}</span>}
            </Button>
          </li>
        ))}
      </ul>
      {hasNextPage && <Button onPress={() => fetchNextPage()}>{t('more')}</Button>}
    </>
  );
}
