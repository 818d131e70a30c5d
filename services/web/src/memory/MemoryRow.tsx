import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button, ToggleButton } from 'react-aria-components';
import { Link } from 'wouter';
import { api, body, type Schemas } from '../api/client';
import { day, t, when } from '../i18n';
import style from '../shell/page.module.css';
import { useHidden } from '../shell/use-deletions';
import { EditText } from './EditText';
import { forgetMemory, keyOf } from './forgetting';
import { KINDS } from './kinds';

type Memory = Schemas['Memory'];

interface Props {
  memory: Memory;
  mayChange: boolean;
}

/** A memory: its text, origin, period of validity, and actions. */
export function MemoryRow({ memory, mayChange }: Props) {
  const client = useQueryClient();
  const hidden = useHidden();
  const [editing, setEditing] = useState(false);
  const params = { path: { memory_id: memory.id } };
  const done = async () => {
    setEditing(false);
    await client.invalidateQueries({ queryKey: ['memories'] });
  };
  const edit = useMutation({
    mutationFn: (content: string) => api.PATCH('/v1/memories/{memory_id}', { params, body: { content } }),
    onSuccess: done,
  });
  const pin = useMutation({
    mutationFn: (pinned: boolean) => api.PATCH('/v1/memories/{memory_id}', { params, body: { pinned } }),
    onSuccess: done,
  });
  const approve = useMutation({
    mutationFn: () => api.POST('/v1/memories/{memory_id}/approve', { params }),
    onSuccess: done,
  });
  const { content, kind, fact, pinned } = memory;
  const short = content.length > 60 ? `${content.slice(0, 60)}…` : content;
  if (hidden.has(keyOf(memory.id))) return null;
  return (
    <li>
      <div className={style.words}>
        <p>{content}</p>
        <Origin memory={memory} />
        {fact && <Validity fact={fact} />}
        {(approve.error ?? pin.error) && <span role="alert">{(approve.error ?? pin.error)!.message}</span>}
      </div>
      <span className={style.badge}>{t(KINDS[kind])}</span>
      <div className={style.actions}>
        {mayChange && fact?.approved === false && (
          <Button onPress={() => approve.mutate()} aria-label={`${t('approve')}: ${short}`}>
            {t('approve')}
          </Button>
        )}
        {mayChange && kind !== 'episode' && (
          <Button onPress={() => setEditing(true)} aria-label={`${t('edit')}: ${short}`}>
            {t('edit')}
          </Button>
        )}
        {mayChange && (
          <ToggleButton
            isSelected={pinned}
            isDisabled={pin.isPending}
            onChange={pin.mutate}
            aria-label={`${t('pinMemory')}: ${short}`}
          >
            {t('pinMemory')}
          </ToggleButton>
        )}
        <Button onPress={() => forgetMemory(client, memory.id, short)} aria-label={`${t('forget')}: ${short}`}>
          {t('forget')}
        </Button>
      </div>
      {editing && (
        <EditText
          title={t('edit')}
          label={t('memoryText')}
          text={content}
          error={edit.error?.message}
          onText={edit.mutate}
          onCancel={() => setEditing(false)}
        />
      )}
    </li>
  );
}

/** Who said it, when, and in which conversation; an import's conversation cannot be opened here. */
function Origin({ memory }: { memory: Memory }) {
  const { session_id: sessionId, said, said_at: saidAt, document_ids: documents } = memory;
  const { data: session } = useQuery({
    queryKey: ['session-of-memory', sessionId],
    enabled: sessionId !== null,
    queryFn: () => body(api.GET('/v1/sessions/{session_id}', { params: { path: { session_id: sessionId! } } })),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const parts = [said?.role === 'assistant' ? t('saidByAssistant') : t('saidByYou'), when(saidAt)];
  if (documents.length) parts.push(t('fromDocuments', { count: documents.length }));
  return (
    <span className={style.quiet}>
      {parts.join(' · ')}
      {session && (
        <>
          {' · '}
          <Link href={`/c/${session.id}`}>{session.title ?? t('untitled')}</Link>
        </>
      )}
    </span>
  );
}

function Validity({ fact }: { fact: Schemas['FactState'] }) {
  const { valid_from: from, valid_to: to, approved, expired_at: expired, conflicts_with: conflict } = fact;
  const parts = [to ? t('validBetween', { from: day(from), to: day(to) }) : t('validFrom', { from: day(from) })];
  if (expired) parts.push(t('replaced', { day: day(expired) }));
  if (!approved) parts.push(t('waitsForApproval'));
  if (conflict) parts.push(t('conflicts'));
  return <span className={style.quiet}>{parts.join(' · ')}</span>;
}
