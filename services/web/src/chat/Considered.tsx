import type { Schemas } from '../api/client';
import { t } from '../i18n';
import style from './chat.module.css';

interface Props {
  sources: Schemas['ConsideredSource'][];
  citations: Schemas['Citation'][];
}

/** The passages that were found for an answer, best first, and which of them it cites. */
export function Considered({ sources, citations }: Props) {
  if (sources.length === 0) return null;
  const cited = (chunkId: string) =>
    citations.filter((each) => each.chunk_id === chunkId).map(({ number }) => `[${number}]`);
  return (
    <details className={style.note}>
      <summary>{t('considered', { count: sources.length })}</summary>
      <ol>
        {sources.map(({ chunk_id: id, document_title: title, document_name: name, section, page }) => (
          <li key={id}>
            {[title ?? name, section, page && t('page', { page })].filter(Boolean).join(' · ')}{' '}
            {cited(id).join(' ') || t('notCited')}
          </li>
        ))}
      </ol>
    </details>
  );
}
