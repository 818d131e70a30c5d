import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from 'react-aria-components';
import { Link } from 'wouter';
import { api, body } from '../api/client';
import { t } from '../i18n';
import { Choice } from '../shell/Choice';
import { Rename } from '../shell/dialogs';
import style from './artifact.module.css';
import { type Artifact, indexArtifact, putArtifact } from './artifacts';
import { PROGRAMMING } from './wishes';

interface Props {
  sessionId: string;
  artifact: Artifact;
  /** Applies a change to the saved artifact, and shows the result. */
  onChange: (act: (version: number, latest: Artifact) => Promise<Artifact>) => Promise<void>;
  /** Saves the current text, and returns its version; undefined if that failed. */
  onLatest: () => Promise<Artifact | undefined>;
}

/** The name of the artifact, the language of code, and whether the workspace can search it. */
export function Options({ sessionId, artifact, onChange, onLatest }: Props) {
  const [naming, setNaming] = useState(false);
  const put = (change: Partial<Pick<Artifact, 'title' | 'language'>>) =>
    onChange((version, { kind, language, title, text }) =>
      putArtifact(sessionId, { kind, language, title, text, ...change }, version),
    );
  const rename = async (title: string) => {
    setNaming(false);
    await put({ title });
  };
  const { language } = artifact;
  const known = Object.entries(PROGRAMMING).map(([value, name]) => ({ value, name }));
  const other = language && !(language.toLowerCase() in PROGRAMMING) ? [{ value: language, name: language }] : [];
  return (
    <>
      <Button onPress={() => setNaming(true)}>{t('rename')}</Button>
      {artifact.kind === 'code' && (
        <Choice
          hidden
          label={t('programmingLanguage')}
          value={other.length ? language! : (language?.toLowerCase() ?? '')}
          options={[{ value: '', name: t('noLanguage') }, ...other, ...known]}
          onChange={(value) => put({ language: value || null })}
        />
      )}
      <Searchable artifact={artifact} sessionId={sessionId} onLatest={onLatest} />
      {naming && (
        <Rename name={artifact.title ?? ''} error={undefined} onName={rename} onCancel={() => setNaming(false)} />
      )}
    </>
  );
}

/** Makes the text a document of the workspace; later versions replace it only on request. */
function Searchable({ sessionId, artifact, onLatest }: Omit<Props, 'onChange'>) {
  const { data: caller } = useQuery({ queryKey: ['me'], queryFn: () => body(api.GET('/v1/me')) });
  const index = useMutation({
    mutationFn: async () => {
      const latest = await onLatest();
      return latest && (await indexArtifact(sessionId, latest.index));
    },
  });
  const indexed = index.data?.index ?? artifact.indexed_index;
  if (!caller || caller.role === 'viewer') return null;
  return (
    <>
      {indexed !== artifact.index && (
        <Button isDisabled={index.isPending} onPress={() => index.mutate()}>
          {t('makeSearchable')}
        </Button>
      )}
      <span role="status" className={style.quiet}>
        {indexed ? <Link href="/documents">{t('searchableVersion', { version: indexed })}</Link> : ''}
      </span>
      {index.error && <span role="alert">{index.error.message}</span>}
    </>
  );
}
