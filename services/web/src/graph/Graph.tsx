import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useDeferredValue, useState } from 'react';
import { Input, Label, SearchField } from 'react-aria-components';
import { Link, useSearchParams } from 'wouter';
import { api, body } from '../api/client';
import { number, t } from '../i18n';
import style from '../shell/page.module.css';
import { EntityPage } from './EntityPage';
import own from './graph.module.css';
import { typeInWords } from './tools';

const MOST_LISTED = 30;

/** The graph, starting from the entity in the URL, or from the most mentioned ones. */
export default function Graph() {
  const [address] = useSearchParams();
  const entity = address.get('entity');
  return entity ? <EntityPage key={entity} entity={entity} /> : <Front />;
}

function Front() {
  return (
    <main className={style.page}>
      <h1>{t('graph')}</h1>
      <p className={style.quiet}>{t('graphHint')}</p>
      <EntityFinder />
    </main>
  );
}

/** Entities by a part of their name. */
export function EntityFinder() {
  const [text, setText] = useState('');
  const words = useDeferredValue(text.trim());
  const { data, error } = useQuery({
    queryKey: ['entities', words],
    queryFn: ({ signal }) => {
      const query = { limit: MOST_LISTED, ...(words ? { q: words } : {}) };
      return body(api.GET('/v1/graph/entities', { params: { query }, signal }));
    },
    placeholderData: keepPreviousData,
  });
  return (
    <search aria-label={t('entities')}>
      <div className={style.form}>
        <SearchField className={style.grow!} value={text} onChange={setText} autoFocus>
          <Label>{t('findEntity')}</Label>
          <Input maxLength={200} />
        </SearchField>
      </div>
      <p role="status">
        {error?.message ?? (data ? data.items.length === 0 && t(words ? 'nothingFound' : 'graphEmpty') : t('loading'))}
      </p>
      <ul className={own.entities}>
        {data?.items.map(({ id, name, entity_type: type, mentions }) => (
          <li key={id}>
            <Link href={`/graph?entity=${encodeURIComponent(name)}`}>{name}</Link>{' '}
            <span className={style.quiet}>
              {typeInWords(type)} · {t('mentions', { count: number(mentions) })}
            </span>
          </li>
        ))}
      </ul>
    </search>
  );
}
