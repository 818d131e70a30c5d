import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useState } from 'react';
import { Button } from 'react-aria-components';
import { api, body, type Schemas } from '../api/client';
import { number, t, when } from '../i18n';
import page from '../shell/page.module.css';
import { Changes } from './Changes';
import { DeleteSource } from './DeleteSource';
import { isUnderWay, KINDS, locationOf, resultOf } from './sources';

interface Props {
  source: Schemas['Source'];
  mayChange: boolean;
  /** A dry run is to begin at once. */
  previews: boolean;
}

/** A source with its last result, and for owners what can be done. */
export function SourceRow({ source, mayChange, previews }: Props) {
  const client = useQueryClient();
  const [shown, setShown] = useState<Schemas['Sync']>(); // the synchronisation whose changes are shown
  const [deleting, setDeleting] = useState(false);
  const { id, name, config, documents, paused, last_sync: last, next_sync_at: next } = source;
  const params = { path: { source_id: id } };
  const again = () => client.invalidateQueries({ queryKey: ['sources'] });
  const sync = useMutation({
    mutationFn: (dryRun: boolean) =>
      body(api.POST('/v1/sources/{source_id}/sync', { params: { ...params, query: { dry_run: dryRun } } })),
    onSuccess: (queued) => {
      setShown(queued.dry_run ? queued : undefined);
      return again();
    },
  });
  const pause = useMutation({
    mutationFn: (stop: boolean) => api.PATCH('/v1/sources/{source_id}', { params, body: { paused: stop } }),
    onSuccess: again,
  });
  const cancel = useMutation({
    mutationFn: (syncId: string) =>
      api.POST('/v1/sources/{source_id}/syncs/{sync_id}/cancel', {
        params: { path: { ...params.path, sync_id: syncId } },
      }),
    onSuccess: again,
  });
  const begin = useEffectEvent(() => sync.mutate(true));
  useEffect(() => {
    if (previews) begin();
  }, [previews]);
  const start = async () => {
    if (paused) await pause.mutateAsync(false);
    sync.mutate(false);
  };
  const error = sync.error ?? pause.error ?? cancel.error;
  const button = (label: string, onPress: () => void, isDisabled = false) => (
    <Button isDisabled={isDisabled} onPress={onPress} aria-label={`${label}: ${name}`}>
      {label}
    </Button>
  );
  return (
    <li>
      <span className={page.words}>
        <strong>{name}</strong>
        <span className={page.quiet}>
          {`${t(KINDS[config.kind ?? 'folder'])} · ${locationOf(config)} · ${t('inDocuments', { count: number(documents) })}`}
        </span>
        <span className={page.quiet} role="status">
          {last && !last.dry_run ? resultOf(last) : t('neverSynced')}{' '}
          {paused ? t('isPaused') : next && t('nextSync', { at: when(next) })}
        </span>
        {error && <span role="alert">{error.message}</span>}
      </span>
      {last?.status === 'failed' && (
        <span className={page.badge} data-tone="bad">
          {t('failed')}
        </span>
      )}
      <div className={page.actions}>
        {last && !shown && button(t('changes'), () => setShown(last))}
        {mayChange && (
          <>
            {last && isUnderWay(last)
              ? button(t('cancel'), () => cancel.mutate(last.id), cancel.isPending)
              : button(t('syncNow'), () => void start(), sync.isPending)}
            {button(t('dryRun'), () => sync.mutate(true), sync.isPending)}
            {button(t(paused ? 'resume' : 'pause'), () => pause.mutate(!paused), pause.isPending)}
            {button(t('delete'), () => setDeleting(true))}
          </>
        )}
      </div>
      {shown && <Changes sourceId={id} sync={shown} onClose={() => setShown(undefined)} />}
      {deleting && <DeleteSource source={source} onClose={() => setDeleting(false)} />}
    </li>
  );
}
