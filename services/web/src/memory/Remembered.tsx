import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useDeferredValue, useState } from 'react';
import { Button, Input, Label, SearchField, TextField } from 'react-aria-components';
import { api, body } from '../api/client';
import { t } from '../i18n';
import { Choice } from '../shell/Choice';
import style from '../shell/page.module.css';
import { KINDS, type Kind } from './kinds';
import { MemoryRow } from './MemoryRow';
import { Rights } from './Rights';
import { useMemorySettings, Writing } from './Writing';

const MOST_FOUND = 20;

interface Props {
  mayChange: boolean;
  isOwner: boolean;
}

/** The user's memories: all of a kind, or those that match a search. */
export function Remembered({ mayChange, isOwner }: Props) {
  const [text, setText] = useState('');
  const [kind, setKind] = useState<Kind | 'all'>('all');
  const words = useDeferredValue(text.trim());
  const { error } = useMemorySettings();
  const options = (Object.keys(KINDS) as Kind[]).map((value) => ({ value, name: t(KINDS[value]) }));
  if (error) return <p role="status">{error.message}</p>;
  return (
    <>
      <p className={style.quiet}>{t('memoryHint')}</p>
      <Writing isOwner={isOwner} />
      {mayChange && <NewNote />}
      <div className={style.form}>
        <SearchField className={style.grow!} value={text} onChange={setText}>
          <Label>{t('searchMemories')}</Label>
          <Input maxLength={1_000} />
        </SearchField>
        <Choice
          label={t('kind')}
          value={kind}
          options={[{ value: 'all', name: t('all') }, ...options]}
          onChange={setKind}
        />
      </div>
      {words ? (
        <Found key={kind} words={words} kind={kind} mayChange={mayChange} />
      ) : (
        <Listed kind={kind} mayChange={mayChange} />
      )}
      <Rights />
    </>
  );
}

interface ListProps {
  kind: Kind | 'all';
  mayChange: boolean;
}

function Listed({ kind, mayChange }: ListProps) {
  const { data, error, hasNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: ['memories', kind],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam }) => {
      const query = { limit: 50, ...(kind === 'all' ? {} : { kind }), ...(pageParam ? { cursor: pageParam } : {}) };
      return body(api.GET('/v1/memories', { params: { query } }));
    },
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
  const memories = data?.pages.flatMap((page) => page.items);
  return (
    <>
      <p role="status">
        {error?.message ?? (memories ? memories.length === 0 && t('nothingRemembered') : t('loading'))}
      </p>
      <ul className={style.rows}>
        {memories?.map((memory) => (
          <MemoryRow key={memory.id} memory={memory} mayChange={mayChange} />
        ))}
      </ul>
      {hasNextPage && <Button onPress={() => fetchNextPage()}>{t('more')}</Button>}
    </>
  );
}

function Found({ words, kind, mayChange }: ListProps & { words: string }) {
  const { data, error } = useQuery({
    queryKey: ['memories', 'found', words, kind],
    queryFn: ({ signal }) => {
      const wanted = { query: words, k: MOST_FOUND, ...(kind === 'all' ? {} : { kinds: [kind] }) };
      return body(api.POST('/v1/memories/recall', { body: wanted, signal }));
    },
  });
  return (
    <>
      <p role="status">
        {error?.message ?? (data ? data.memories.length === 0 && t('nothingFound') : t('loading'))}
        {data?.mode === 'words' && t('wordsAlone')}
      </p>
      {data?.answer && <p>{data.answer.text}</p>}
      <ul className={style.rows}>
        {data?.memories.map((memory) => (
          <MemoryRow key={memory.id} memory={memory} mayChange={mayChange} />
        ))}
      </ul>
    </>
  );
}

function NewNote() {
  const client = useQueryClient();
  const [content, setContent] = useState('');
  const add = useMutation({
    mutationFn: () => api.POST('/v1/memories', { body: { content: content.trim() } }),
    onSuccess: async () => {
      setContent('');
      await client.invalidateQueries({ queryKey: ['memories'] });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (content.trim()) add.mutate();
  };
  return (
    <form className={style.form} onSubmit={submit}>
      <TextField className={style.grow!} value={content} onChange={setContent} maxLength={10_000}>
        <Label>{t('newNote')}</Label>
        <Input />
      </TextField>
      <Button type="submit" isDisabled={!content.trim() || add.isPending}>
        {t('remember')}
      </Button>
      <p role="alert" className={style.error}>
        {add.error?.message}
      </p>
    </form>
  );
}
