import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Button } from 'react-aria-components';
import { t, when } from '../i18n';
import style from './artifact.module.css';
import { type Artifact, restore } from './artifacts';
import { LazyEditor } from './LazyEditor';

interface Props {
  sessionId: string;
  current: Artifact;
  old: Artifact | undefined;
  error: string | undefined;
  onOpen: (index?: number) => void;
}

/** An earlier version, which can be restored. */
export function Old({ sessionId, current, old, error, onOpen }: Props) {
  const client = useQueryClient();
  const again = useMutation({
    mutationFn: () => restore(sessionId, current.version, old!.index),
    onSuccess: (restored) => {
      client.setQueryData(['artifact', sessionId], restored);
      onOpen();
    },
    onError: () => client.invalidateQueries({ queryKey: ['artifact', sessionId] }),
  });
  if (!old) return <p role="status">{error ?? t('loading')}</p>;
  return (
    <div className={style.body}>
      <div className={style.tools}>
        <Button onPress={() => onOpen()}>{t('toCurrent')}</Button>
        {old.index !== current.index && current.kind !== 'pdf' && (
          <Button onPress={() => again.mutate()} isDisabled={again.isPending}>
            {t('restore')}
          </Button>
        )}
        <span className={style.quiet}>
          {when(old.created_at)}
          {old.kept_aside && ` · ${t('keptAside')}`}
        </span>
      </div>
      <p role="alert">{again.error?.message}</p>
      <LazyEditor
        key={old.index}
        text={old.text}
        label={t('versionOf', { version: old.index })}
        isCode={old.kind === 'code'}
        language={old.language}
      />
    </div>
  );
}
