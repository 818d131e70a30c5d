import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api, body } from '../api/client';
import { t } from '../i18n';
import style from '../shell/page.module.css';
import own from './search.module.css';

const LOOKED_AT = 20; // newest documents
const OFFERED = 3;
const WAYS = [
  { written: 'exampleWords', means: 'wayWords' },
  { written: 'examplePhrase', means: 'wayPhrase' },
  { written: 'examplePrefix', means: 'wayPrefix' },
  { written: 'exampleField', means: 'wayField' },
] as const;

/** What can be searched and how, before the first search; examples are titles of the newest documents. */
export function Introduction() {
  const { data } = useQuery({
    queryKey: ['documents', 'newest'],
    queryFn: () => body(api.GET('/v1/documents', { params: { query: { limit: LOOKED_AT } } })),
  });
  const titles = data?.items.filter((each) => each.searchable_version !== null).map(({ title, name }) => title ?? name);
  return (
    <>
      <p>{t('searchHint')}</p>
      <dl className={own.ways}>
        {WAYS.map(({ written, means }) => (
          <div key={written}>
            <dt>
              <code>{t(written)}</code>
            </dt>
            <dd>{t(means)}</dd>
          </div>
        ))}
      </dl>
      <p className={style.quiet}>{t('searchFilters')}</p>
      {data?.items.length === 0 && (
        <p>
          <Link href="/documents">{t('addToSearch')}</Link>
        </p>
      )}
      {Boolean(titles?.length) && (
        <section aria-labelledby="examples">
          <h2 id="examples">{t('searchExamples')}</h2>
          <ul className={own.examples}>
            {[...new Set(titles)].slice(0, OFFERED).map((title) => (
              <li key={title}>
                <Link href={`/search?q=${encodeURIComponent(title)}`}>{title}</Link>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}
