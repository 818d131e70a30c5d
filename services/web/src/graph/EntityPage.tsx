import { useQuery } from '@tanstack/react-query';
import { Suspense } from 'react';
import { Button } from 'react-aria-components';
import { Link, useSearchParams } from 'wouter';
import { api, body, type Schemas } from '../api/client';
import { number, t, told } from '../i18n';
import { lazily } from '../shell/lazily';
import style from '../shell/page.module.css';
import { WithSource, withSource } from '../viewer/WithSource';
import { Dependencies } from './Dependencies';
import { EntityFinder } from './Graph';
import own from './graph.module.css';
import { Paths } from './Paths';
import { answered, NotAnswered, typeInWords } from './tools';

const Picture = lazily(() => import('./Picture'));
type Fact = Schemas['Fact'];
type Statement = Schemas['Statement'];
const MOST_RELATIONS = 100;
const TOGETHER = 'CO_OCCURS'; // entities in one passage, without a sentence that states a relation

export const entityHref = (name: string) => `/graph?entity=${encodeURIComponent(name)}`;

/** An entity: its facts with sources, dependencies, paths to other entities, and a picture of its neighbours. */
export function EntityPage({ entity }: { entity: string }) {
  const { data, error } = useQuery({
    queryKey: ['facts', entity],
    queryFn: () => {
      const wanted = { entity_name: entity, max_relations: MOST_RELATIONS, max_chunks: 0 };
      return answered(body(api.POST('/v1/graph/tools/lookup_facts', { body: wanted })));
    },
  });
  if (!data)
    return (
      <main className={style.page}>
        <h1>{entity}</h1>
        <p role="status">{error?.message ?? t('loading')}</p>
        {error instanceof NotAnswered && (
          <>
            <Behind pending={error.pending} />
            <Names names={error.suggestions} />
            <EntityFinder />
          </>
        )}
      </main>
    );
  const { entity: found, alternatives = [], relations } = data;
  const numbered = numberThrough(relations);
  const said = numbered.filter(({ fact, citations }) => citations.length > 0 || fact.relation_type !== TOGETHER);
  const beside = numbered
    .filter((each) => !said.includes(each))
    .map(({ fact }) => (fact.source === found.id ? fact.target_name : fact.source_name));
  return (
    <WithSource citations={numbered.flatMap(({ citations }) => citations)}>
      <main className={style.page}>
        <p className={own.back}>
          <Link href="/graph">{t('allEntities')}</Link>
        </p>
        <h1>{found.name}</h1>
        <p className={style.quiet}>
          {[
            typeInWords(found.entity_type),
            t('mentions', { count: number(found.mentions) }),
            t('inDocuments', { count: number(found.documents) }),
            ...(found.aliases?.length ? [t('alsoCalled', { names: found.aliases.join(', ') })] : []),
          ].join(' · ')}
        </p>
        <Behind pending={data.pending} />
        {alternatives.length > 0 && <Names names={alternatives.map((each) => each.name)} />}
        <Suspense fallback={<div className={own.picture} aria-busy />}>
          <Picture entity={found.name} />
        </Suspense>
        <h2>{t('facts')}</h2>
        {said.length === 0 && <p>{t('noFacts')}</p>}
        <ul className={own.facts}>
          {said.map(({ fact, citations }) => (
            <FactRow key={`${fact.source} ${fact.relation_type} ${fact.target}`} fact={fact} citations={citations} />
          ))}
        </ul>
        {beside.length > 0 && (
          <>
            <h2>{t('mentionedWith')}</h2>
            <ul className={own.names}>
              {beside.map((name) => (
                <li key={name}>
                  <Link href={entityHref(name)}>{name}</Link>
                </li>
              ))}
            </ul>
          </>
        )}
        <Dependencies entity={found.name} />
        <Paths from={found.name} />
      </main>
    </WithSource>
  );
}

/** Says that the graph does not have all documents yet. */
function Behind({ pending }: { pending: number }) {
  return pending > 0 && <p>{t('graphBehind', { count: number(pending) })}</p>;
}

function Names({ names }: { names: string[] }) {
  if (names.length === 0) return null;
  return (
    <p>
      {t('orMeant')}{' '}
      {names.map((name, index) => (
        <span key={name}>
          {index > 0 && ', '}
          <Link href={entityHref(name)}>{name}</Link>
        </span>
      ))}
    </p>
  );
}

interface Numbered {
  fact: Fact;
  citations: Schemas['Citation'][];
}

/** The facts with their sentences as consecutively numbered citations. */
function numberThrough(facts: readonly Fact[]): Numbered[] {
  let last = 0;
  return facts.map((fact) => {
    const statements = (fact.statements ?? []).filter((each) => each.chunk_id !== null);
    return { fact, citations: statements.map((statement) => cited(statement, ++last)) };
  });
}

const cited = (statement: Statement, number: number): Schemas['Citation'] => ({
  number,
  chunk_id: statement.chunk_id!,
  document_id: statement.document_id,
  document_name: statement.document_name,
  document_title: null,
  quote: statement.text,
  start: 0,
  end: 0,
  page: null,
  section: null,
  line_start: null,
  line_end: null,
});

function FactRow({ fact, citations }: Numbered) {
  const [, setAddress] = useSearchParams();
  const { source_name: source, target_name: target, relation_type: type, status, dated } = fact;
  return (
    <li>
      <p>
        <Link href={entityHref(source)}>{source}</Link> <span className={style.badge}>{typeInWords(type)}</span>{' '}
        <Link href={entityHref(target)}>{target}</Link>
        {status && status !== 'current' && <span className={style.quiet}> {told(`fact.${status}`, status)}</span>}
        {dated && <span className={style.quiet}> {dated}</span>}
      </p>
      <ul>
        {citations.map((citation) => (
          <li key={citation.number}>
            {t('quoted', { text: citation.quote })}{' '}
            <Button
              className={style.plain!}
              data-citation={citation.number}
              aria-label={t('openSource', { number: citation.number, title: citation.document_name })}
              onPress={() => setAddress((now) => withSource(now, citation.number))}
            >
              {citation.document_name}
            </Button>
          </li>
        ))}
      </ul>
    </li>
  );
}
