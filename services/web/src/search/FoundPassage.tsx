import { Button } from 'react-aria-components';
import { Link, useSearchParams } from 'wouter';
import type { Schemas } from '../api/client';
import { typeInWords } from '../graph/tools';
import { number, t, told } from '../i18n';
import style from '../shell/page.module.css';
import { withSource } from '../viewer/WithSource';
import { legName } from './legs';
import own from './search.module.css';
import { pieces } from './wanted';

interface Props {
  hit: Schemas['Hit'];
  /** Its position among the results, by which the source panel opens it; without it the passage is only shown. */
  number?: number;
}

/** A passage with its matching words marked, its location, and the reason for its rank. */
export function FoundPassage({ hit, number: place }: Props) {
  const [, setAddress] = useSearchParams();
  const { document_title: title, document_name: name, page, heading_path: path, duplicates = [] } = hit;
  const where = [...path, ...(page ? [t('page', { page })] : [])].join(' › ');
  return (
    <li>
      <h2>
        {place === undefined ? (
          (title ?? name)
        ) : (
          <Button
            className={style.plain!}
            data-citation={place}
            onPress={() => setAddress((now) => withSource(now, place))}
          >
            {place}. {title ?? name}
          </Button>
        )}
      </h2>
      {where && <p className={style.quiet}>{where}</p>}
      <p className={own.passage}>
        {pieces(hit.content, hit.highlights ?? []).map(({ text, marked }, index) =>
          marked ? <mark key={index}>{text}</mark> : text,
        )}
      </p>
      {duplicates.length > 0 && (
        <p className={style.quiet}>
          {t('alsoIn', { names: [...new Set(duplicates.map((each) => each.document_name))].join(', ') })}
        </p>
      )}
      {hit.explanation && <Why explanation={hit.explanation} score={hit.score} />}
    </li>
  );
}

/** The score in its parts: rank and score in each leg, the summands, and the path through the graph. */
function Why({ explanation, score }: { explanation: Schemas['HitExplanation']; score: number }) {
  const { legs, features, weights, matched_terms: terms, graph_steps: steps = [] } = explanation;
  const added = Object.entries(features)
    .map(([name, value]) => ({ name, value, weight: weights[name] ?? 0 }))
    .filter(({ value, weight }) => value !== 0 && weight !== 0);
  return (
    <details className={style.quiet}>
      <summary>{t('whyHere', { score: number(score, 3) })}</summary>
      <div className={style.table}>
        <table>
          <thead>
            <tr>
              <th>{t('leg')}</th>
              <th className={style.number}>{t('rank')}</th>
              <th className={style.number}>{t('score')}</th>
            </tr>
          </thead>
          <tbody>
            {Object.entries(legs).map(([leg, { rank, score: own }]) => (
              <tr key={leg}>
                <td>{legName(leg)}</td>
                <td className={style.number}>{rank ?? '–'}</td>
                <td className={style.number}>{own === null ? '–' : number(own, 3)}</td>
              </tr>
            ))}
          </tbody>
        </table>
        {added.length > 0 && (
          <table>
            <thead>
              <tr>
                <th>{t('feature')}</th>
                <th className={style.number}>{t('value')}</th>
                <th className={style.number}>{t('weight')}</th>
                <th className={style.number}>{t('product')}</th>
              </tr>
            </thead>
            <tbody>
              {added.map(({ name, value, weight }) => (
                <tr key={name}>
                  <td>{told(`feature.${name}`, name.replaceAll('_', ' '))}</td>
                  <td className={style.number}>{number(value, 3)}</td>
                  <td className={style.number}>{number(weight, 2)}</td>
                  <td className={style.number}>{number(value * weight, 3)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </div>
      {terms.length > 0 && <p>{t('matchedTerms', { words: terms.join(', ') })}</p>}
      {steps.length > 0 && (
        <ul>
          {steps.map(({ source, relation, target, sentence }, index) => (
            <li key={index}>
              <Link href={`/graph?entity=${encodeURIComponent(source)}`}>{source}</Link>{' '}
              {relation ? typeInWords(relation) : '→'}{' '}
              <Link href={`/graph?entity=${encodeURIComponent(target)}`}>{target}</Link>
              {sentence && `: ${t('quoted', { text: sentence })}`}
            </li>
          ))}
        </ul>
      )}
    </details>
  );
}
