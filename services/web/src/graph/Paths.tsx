import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Button, Input, Label, TextField } from 'react-aria-components';
import { Link } from 'wouter';
import { api, body, type Schemas } from '../api/client';
import { t, worded } from '../i18n';
import style from '../shell/page.module.css';
import { entityHref } from './EntityPage';
import { answered, NotAnswered, typeInWords } from './tools';

/** The shortest paths from the entity to another one, step by step. */
export function Paths({ from }: { from: string }) {
  const [text, setText] = useState('');
  const [target, setTarget] = useState('');
  const { data, error, isFetching } = useQuery({
    queryKey: ['paths', from, target],
    enabled: target !== '',
    queryFn: () => answered(body(api.POST('/v1/graph/tools/shortest_path', { body: { source: from, target } }))),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTarget(text.trim());
  };
  const suggestions = error instanceof NotAnswered ? error.suggestions : [];
  return (
    <section aria-labelledby="paths">
      <h2 id="paths">{t('paths', { name: from })}</h2>
      <form className={style.form} onSubmit={submit}>
        <TextField className={style.grow!} value={text} onChange={setText} maxLength={200}>
          <Label>{t('otherEntity')}</Label>
          <Input />
        </TextField>
        <Button type="submit" isDisabled={!text.trim()}>
          {t('findPath')}
        </Button>
      </form>
      <p role="status">
        {error?.message ??
          (isFetching
            ? t('loading')
            : data && (data.note ? worded(data.note) : data.paths.length === 0 && t('noPath')))}
        {suggestions.length > 0 && ` ${t('orMeant')} ${suggestions.join(', ')}`}
      </p>
      <ol>
        {data?.paths.map((path) => (
          <li key={path.ids.join()}>
            <Steps path={path} />
          </li>
        ))}
      </ol>
    </section>
  );
}

/** Each step with the direction in which its relation points. */
function Steps({ path: { ids, names, relations } }: { path: Schemas['EntityPath'] }) {
  return names.map((name, index) => {
    const relation = relations[index - 1];
    return (
      <span key={ids[index]}>
        {relation &&
          ` ${relation.target === ids[index] ? `—${typeInWords(relation.relation_type)}→` : `←${typeInWords(relation.relation_type)}—`} `}
        <Link href={entityHref(name)}>{name}</Link>
      </span>
    );
  });
}
