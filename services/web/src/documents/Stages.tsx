import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, body, type Schemas } from '../api/client';
import { explained, type Key, number, t } from '../i18n';
import style from './documents.module.css';

type Stage = Schemas['Stage'];
const NAMES = {
  store: 'stageStore',
  convert: 'stageConvert',
  chunk: 'stageChunk',
  embed: 'stageEmbed',
  index: 'stageIndex',
  graph: 'stageGraph',
} as const satisfies Record<Stage['name'], Key>;
const STATES = {
  waiting: 'stageWaiting',
  queued: 'stageQueued',
  running: 'processing',
  succeeded: 'stageDone',
  failed: 'failed',
  cancelled: 'statusCancelled',
} as const satisfies Record<Stage['status'], Key>;

/** The stages of the document's processing, loaded when opened. */
export function Stages({ document }: { document: Schemas['Document'] }) {
  const [open, setOpen] = useState(false);
  const { data, error } = useQuery({
    queryKey: ['explanation', document.id, document.updated_at],
    enabled: open,
    queryFn: () => body(api.GET('/v1/documents/{document_id}', { params: { path: { document_id: document.id } } })),
  });
  return (
    <details className={style.quiet} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{t('stages')}</summary>
      {!data && <span>{error?.message ?? t('loading')}</span>}
      <ol className={style.stages}>
        {data?.stages.map((stage) => (
          <li key={stage.name}>{lineOf(stage)}</li>
        ))}
      </ol>
    </details>
  );
}

/** A stage with its state, in a line. */
export const lineOf = (stage: Stage) => `${t(NAMES[stage.name])}: ${[...said(stage)].join(' · ')}`;

function* said({ status, seconds, attempts, page, pages, error_class: type, error_message: why }: Stage) {
  yield t(STATES[status]);
  if (page && pages) yield t('pageOf', { page, pages });
  if (seconds !== null) yield t('inSeconds', { seconds: number(seconds, 1) });
  if (attempts > 1) yield t('attempts', { count: attempts });
  if (why) yield explained(type, why);
}
