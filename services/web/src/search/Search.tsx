import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Button, Input, Label, SearchField } from 'react-aria-components';
import { useSearchParams } from 'wouter';
import { api, body, type Schemas } from '../api/client';
import { number, t, worded } from '../i18n';
import { Choice } from '../shell/Choice';
import style from '../shell/page.module.css';
import { WithSource } from '../viewer/WithSource';
import { FoundPassage } from './FoundPassage';
import { inWords } from './facets';
import { Introduction } from './Introduction';
import { legInWords, legName } from './legs';
import { Missing } from './Missing';
import own from './search.module.css';
import { cited, FACETS, MODES, type Mode, modeOf, request } from './wanted';

type Response = Schemas['SearchResponse'];

/** Passages that match words or a question. The URL holds the whole search, so it can be shared. */
export default function Search() {
  const [address, setAddress] = useSearchParams();
  const wanted = request(address);
  const { data, error, isFetching } = useQuery({
    queryKey: ['search', wanted],
    enabled: wanted.query !== '',
    queryFn: ({ signal }) => body(api.POST('/v1/search', { body: wanted, signal })) as Promise<Response>,
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  });
  const found = wanted.query ? data : undefined;
  const hits = found?.hits ?? [];
  const change = (alter: (now: URLSearchParams) => void) =>
    setAddress((now) => {
      now.delete('source');
      alter(now);
      return now;
    });
  return (
    <WithSource citations={hits.map((hit, index) => cited(hit, index + 1))}>
      <main className={style.page}>
        <h1>{t('search')}</h1>
        <Query key={wanted.query} address={address} onChange={change} />
        <p role="status" className={style.quiet}>
          {error?.message ?? (isFetching ? t('loading') : found && summary(found))}
        </p>
        {!wanted.query && <Introduction />}
        {found && <Understood found={found} />}
        {found && <Facets found={found} address={address} onChange={change} />}
        <ol className={own.hits}>
          {hits.map((hit, index) => (
            <FoundPassage key={hit.chunk_id} hit={hit} number={index + 1} />
          ))}
        </ol>
        {found && <Missing address={address} />}
      </main>
    </WithSource>
  );
}

function summary({ hits, good_match: good, milliseconds }: Response): string {
  if (hits.length === 0) return t('nothingFound');
  const count = t('passagesFound', { count: number(hits.length), milliseconds: number(milliseconds) });
  return good ? count : `${count} ${t('weakMatch')}`;
}

interface Part {
  address: URLSearchParams;
  onChange: (alter: (now: URLSearchParams) => void) => void;
}

function Query({ address, onChange }: Part) {
  const [text, setText] = useState(address.get('q') ?? '');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onChange((now) => {
      for (const { facet } of FACETS) now.delete(facet);
      if (text.trim()) now.set('q', text.trim());
      else now.delete('q');
    });
  };
  const modes = (Object.keys(MODES) as Mode[]).map((value) => ({ value, name: t(MODES[value]) }));
  const setMode = (mode: Mode | 'default') =>
    onChange((now) => (mode === 'default' ? now.delete('mode') : now.set('mode', mode)));
  return (
    <form className={style.form} onSubmit={submit}>
      <SearchField className={style.grow!} value={text} onChange={setText} autoFocus>
        <Label>{t('searchLabel')}</Label>
        <Input maxLength={10_000} />
      </SearchField>
      <Choice
        label={t('mode')}
        value={modeOf(address) ?? 'default'}
        options={[{ value: 'default', name: t('modeDefault') }, ...modes]}
        onChange={setMode}
      />
      <Button type="submit" className={style.primary!}>
        {t('find')}
      </Button>
    </form>
  );
}

/** How the query was understood: corrected words, phrases, words left out; and the number of hits per leg. */
function Understood({ found: { understood, legs, mode } }: { found: Response }) {
  const corrected = Object.entries(understood?.corrected ?? {});
  return (
    <div className={style.quiet}>
      {corrected.map(([word, instead]) => (
        <p key={word}>{t('corrected', { word, instead: instead.join(', ') })}</p>
      ))}
      {Boolean(understood?.phrases?.length) && <p>{t('phrases', { words: understood!.phrases!.join(', ') })}</p>}
      {Boolean(understood?.excluded?.length) && <p>{t('excluded', { words: understood!.excluded!.join(', ') })}</p>}
      <p>
        {t(MODES[mode])}:{' '}
        {legs
          .map(
            ({ leg, candidates, error }) =>
              `${legName(leg)} ${error ? t('legFailed', { error: worded(error) }) : number(candidates)}`,
          )
          .join(' · ')}
      </p>
      <Legs legs={legs.map(({ leg }) => leg)} />
    </div>
  );
}

/** Says what each leg of the search looks at. */
function Legs({ legs }: { legs: string[] }) {
  const known = legs.map((leg) => ({ leg, words: legInWords(leg) })).filter(({ words }) => words);
  if (known.length === 0) return null;
  return (
    <details>
      <summary>{t('aboutLegs')}</summary>
      <p>{t('legsHint')}</p>
      <dl className={own.legs}>
        {known.map(({ leg, words }) => (
          <div key={leg}>
            <dt>{legName(leg)}</dt>
            <dd>{words}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

function Facets({ found, address, onChange }: Part & { found: Response }) {
  const shown = FACETS.map((each) => {
    const chosen = address.getAll(each.facet);
    const counts = found.facets?.[each.facet] ?? [];
    const missing = chosen.filter((value) => !counts.some((count) => count.value === value));
    return { ...each, chosen, counts: [...counts, ...missing.map((value) => ({ value, documents: 0, chunks: 0 }))] };
  }).filter(({ counts, chosen }) => counts.length > 1 || chosen.length > 0);
  if (shown.length === 0) return null;
  return (
    <div className={own.facets}>
      {shown.map(({ facet, name, counts, chosen }) => (
        <fieldset key={facet}>
          <legend>{t(name)}</legend>
          {counts.map(({ value, documents }) => (
            <label key={value} className={own.facet}>
              <input
                type="checkbox"
                checked={chosen.includes(value)}
                onChange={({ target }) =>
                  onChange((now) => (target.checked ? now.append(facet, value) : now.delete(facet, value)))
                }
              />
              {inWords(facet, value)} <span className={style.quiet}>{number(documents)}</span>
            </label>
          ))}
        </fieldset>
      ))}
    </div>
  );
}
