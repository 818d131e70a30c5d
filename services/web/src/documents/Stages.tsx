import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, body, type Schemas } from '../api/client';
import { t } from '../i18n';
import style from './documents.module.css';
import { lineOf } from './stage-words';

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
