import type { Schemas } from '../api/client';
import { t, worded } from '../i18n';
import style from './chat.module.css';

type Check = Schemas['SentenceCheck'];

interface Props {
  content: string;
  sentences: Check[];
}

const DOUBTFUL = ['unclear', 'contradicted', 'unsupported', 'unchecked'] as const;
const isDoubtful = (status: string): status is (typeof DOUBTFUL)[number] => DOUBTFUL.some((one) => one === status);

/** The sentences of an answer that its sources do not confirm, and the rewritten ones, with reasons. */
export function Doubts({ content, sentences }: Props) {
  const claims = sentences.filter(({ status }) => status !== 'not_a_claim');
  const doubts = claims.flatMap(({ status, ...each }) => (isDoubtful(status) ? [{ ...each, status }] : []));
  const rewritten = sentences.filter((each) => each.instead_of);
  const characters = [...content]; // the API counts characters, JavaScript UTF-16 units
  const words = ({ start, end }: Pick<Check, 'start' | 'end'>) => characters.slice(start, end).join('');
  return (
    <>
      {doubts.length > 0 && (
        <details className={style.note}>
          <summary>{t('doubts', { count: doubts.length, all: claims.length })}</summary>
          <ul>
            {doubts.map((doubt) => (
              <li key={doubt.start}>
                {words(doubt)} <em>{`${t(doubt.status)}: ${worded(doubt.reason)}`}</em>
              </li>
            ))}
          </ul>
        </details>
      )}
      {rewritten.length > 0 && (
        <details className={style.note}>
          <summary>{t('rewritten', { count: rewritten.length })}</summary>
          <ul>
            {rewritten.map((each) => (
              <li key={each.start}>
                <del>{each.instead_of}</del> → <ins>{words(each)}</ins> <em>{worded(each.reason)}</em>
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}
