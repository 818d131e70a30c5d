import { useQuery } from '@tanstack/react-query';
import { useDeferredValue, useState } from 'react';
import { Input, Label, SearchField } from 'react-aria-components';
import { Route, Switch } from 'wouter';
import type { Schemas } from '../api/client';
import { t } from '../i18n';
import { Choice } from '../shell/Choice';
import page from '../shell/page.module.css';
import { Sections } from '../shell/Sections';
import { DeletedHere } from './DeletedHere';
import { DocumentList, pageOf, type Wanted } from './DocumentList';
import style from './documents.module.css';
import { Overview } from './Overview';
import { Sources } from './Sources';
import { STATES, type Status } from './states';
import { Uploads } from './Uploads';

/** The documents of the workspace, and the sources that are watched for it. */
export default function Documents({ role }: { role: Schemas['Role'] }) {
  const parts = [
    { href: '/documents', name: t('allFiles') },
    { href: '/documents/sources', name: t('watchedSources') },
  ];
  return (
    <main className={`${page.page} ${style.documents}`}>
      <h1>{t('documents')}</h1>
      <Sections label={t('documents')} parts={parts} />
      <Switch>
        <Route path="/documents/sources">
          <Sources isOwner={role === 'owner'} />
        </Route>
        <Route>
          <Listed mayChange={role !== 'viewer'} />
        </Route>
      </Switch>
    </main>
  );
}

/** The workspace's documents, newest first, optionally filtered. */
function Listed({ mayChange }: { mayChange: boolean }) {
  const [text, setText] = useState('');
  const [status, setStatus] = useState<Status | 'all'>('all');
  const name = useDeferredValue(text.trim());
  const wanted: Wanted = { ...(name && { name }), ...(status !== 'all' && { status }) };
  const { data, error, isPlaceholderData } = useQuery(pageOf(wanted));
  const [listed, setListed] = useState(wanted); // stays until what is wanted is there
  const isThere = data && !isPlaceholderData;
  if (isThere && JSON.stringify(wanted) !== JSON.stringify(listed)) setListed(wanted);
  const isFiltered = Object.keys(wanted).length > 0;
  const options = (Object.keys(STATES) as Status[]).map((value) => ({ value, name: t(STATES[value]) }));
  return (
    <>
      {mayChange && (data || !error) && <Uploads />}
      <Overview mayChange={mayChange} />
      <DeletedHere prefix="document:" />
      {(isFiltered || (data ? data.items.length > 0 : !error)) && (
        <div className={page.form}>
          <SearchField className={page.grow!} value={text} onChange={setText}>
            <Label>{t('documentName')}</Label>
            <Input maxLength={200} />
          </SearchField>
          <Choice
            label={t('state')}
            value={status}
            options={[{ value: 'all', name: t('all') }, ...options]}
            onChange={setStatus}
          />
        </div>
      )}
      <p role="alert">{error?.message}</p>
      <p role="status">
        {data ? data.items.length === 0 && t(isFiltered ? 'nothingFound' : 'empty') : !error && t('loading')}
      </p>
      {(data || !error) && <DocumentList key={JSON.stringify(listed)} wanted={listed} mayChange={mayChange} />}
    </>
  );
}
