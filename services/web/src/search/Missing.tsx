import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Button, Input, Label, TextField } from 'react-aria-components';
import { api, body, type Schemas } from '../api/client';
import { stateInWords } from '../documents/stage-words';
import { number, t } from '../i18n';
import style from '../shell/page.module.css';
import { FoundPassage } from './FoundPassage';
import { inWords } from './facets';
import { filteredOut, isFolded, placeOf } from './missing';
import own from './search.module.css';
import { FACETS, MOST_HITS, request } from './wanted';

const OFFERED = 10;
const LOOKED_THROUGH = 100; // hits, the most that the API returns

type Found = Schemas['SearchResponse'];

/** Explains why an expected document is missing from the results, or ranks too low. */
export function Missing({ address }: { address: URLSearchParams }) {
  const [name, setName] = useState('');
  const [asked, setAsked] = useState('');
  const [chosen, setChosen] = useState<string>();
  const { data, error } = useQuery({
    queryKey: ['documents', 'named', asked],
    enabled: asked !== '',
    queryFn: () => body(api.GET('/v1/documents', { params: { query: { name: asked, limit: OFFERED } } })),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setChosen(undefined);
    setAsked(name.trim());
  };
  const documentId = chosen ?? (data?.items.length === 1 ? data.items[0]!.id : undefined);
  return (
    <details className={own.missing}>
      <summary>{t('whyMissing')}</summary>
      <form className={style.form} onSubmit={submit}>
        <TextField className={style.grow!} value={name} onChange={setName} maxLength={200}>
          <Label>{t('documentName')}</Label>
          <Input />
        </TextField>
        <Button type="submit" isDisabled={!name.trim()}>
          {t('explain')}
        </Button>
      </form>
      <p role="status" className={style.quiet}>
        {error?.message ?? (data?.items.length === 0 && t('noSuchDocument', { name: asked }))}
      </p>
      {data && data.items.length > 1 && (
        <ul className={own.offered} aria-label={t('whichDocument')}>
          {data.items.map(({ id, name: file, title }) => (
            <li key={id}>
              <Button className={style.plain!} aria-pressed={id === documentId} onPress={() => setChosen(id)}>
                {title ? `${title} (${file})` : file}
              </Button>
            </li>
          ))}
        </ul>
      )}
      {documentId && <Reasons key={documentId} documentId={documentId} address={address} />}
    </details>
  );
}

function Reasons({ documentId, address }: { documentId: string; address: URLSearchParams }) {
  const wanted = request(address);
  const { data, error } = useQuery({
    queryKey: ['why-missing', documentId, wanted],
    queryFn: async ({ signal }) => {
      const search = (change: Partial<Schemas['SearchRequest']>) =>
        body(api.POST('/v1/search', { body: { ...wanted, facets: [], ...change }, signal })) as Promise<Found>;
      const unfiltered = Object.fromEntries(FACETS.map(({ filter }) => [filter, null]));
      const [document, all, alone] = await Promise.all([
        body(api.GET('/v1/documents/{document_id}', { params: { path: { document_id: documentId } } })),
        search({ k: LOOKED_THROUGH, explain: false, highlight: false }),
        search({ ...unfiltered, k: 1, document_ids: [documentId] }),
      ]);
      return { document, all, best: alone.hits[0] };
    },
  });
  if (!data) return <p role="status">{error?.message ?? t('loading')}</p>;
  const { document, all, best } = data;
  const state = stateInWords(document);
  const filtered = filteredOut(address, document);
  const place = placeOf(documentId, all);
  const folded = isFolded(documentId, all);
  const last = all.hits[MOST_HITS - 1];
  return (
    <div className={own.reasons} role="status">
      <strong>{document.title ?? document.name}</strong>
      <ul>
        {document.searchable_version === null && <li>{t('notSearchable')}</li>}
        {state && <li>{state}</li>}
        {filtered.map((each) => (
          <li key={each.name}>
            {t('filteredOut', {
              name: t(each.name),
              wanted: each.wanted.map((value) => inWords(each.facet, value)).join(', '),
              has: each.has.map((value) => inWords(each.facet, value)).join(', ') || t('nothing'),
            })}
          </li>
        ))}
        {folded && <li>{t('foldedInto', { name: folded })}</li>}
        {place !== undefined && (
          <li>{t(place > MOST_HITS ? 'furtherBack' : 'isFound', { place: number(place), most: MOST_HITS })}</li>
        )}
        {place === undefined && best && filtered.length === 0 && (
          <li>{t('behindAll', { count: number(all.hits.length) })}</li>
        )}
        {best && last && place !== undefined && place > MOST_HITS && (
          <li>{t('scoreBelow', { score: number(best.score, 3), least: number(last.score, 3) })}</li>
        )}
        {!best && document.searchable_version !== null && <li>{t('nothingFits')}</li>}
      </ul>
      {best && (
        <>
          <p className={style.quiet}>{t('bestPassage')}</p>
          <ul className={own.hits}>
            <FoundPassage hit={best} />
          </ul>
        </>
      )}
    </div>
  );
}
