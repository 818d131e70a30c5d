import type { Schemas } from '../api/client';
import { t } from '../i18n';
import style from './chat.module.css';

interface Props {
  content: string;
  sentences: Schemas['SentenceCheck'][];
}

const DOUBTFUL = ['unclear', 'contradicted', 'unsupported', 'unchecked'] as const;
const isDoubtful = (status: string): status is (typeof DOUBTFUL)[number] => DOUBTFUL.some((one) => one === status);

/** The sentences of an answer that its sources do not confirm, each with the reason. */
export function Doubts({ content, sentences }: Props) {
  const claims = sentences.filter(({ status }) => status !== 'not_a_claim');
  const doubts = claims.flatMap(({ status, ...each }) => (isDoubtful(status) ? [{ ...each, status }] : []));
  if (doubts.length === 0) return null;
  const characters = [...content]; // the API counts characters, JavaScript UTF-16 units
  return (
    <details className={style.note}>
      <summary>{t('doubts', { count: doubts.length, all: claims.length })}</summary>
      <ul>
        {doubts.map(({ start, end, status, reason }) => (
          <li key={start}>
            {characters.slice(start, end).join('')} <em>{`${t(status)}: ${reason}`}</em>
          </li>
        ))}
      </ul>
    </details>
  );
}
