import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api, body, type Schemas } from '../api/client';
import { number, t } from '../i18n';
import style from '../shell/page.module.css';
import { entityHref } from './EntityPage';
import own from './graph.module.css';
import { answered } from './tools';

/** What the entity depends on and what depends on it, direct ones first, with counts. */
export function Dependencies({ entity }: { entity: string }) {
  const { data, error } = useQuery({
    queryKey: ['dependencies', entity],
    queryFn: () => answered(body(api.POST('/v1/graph/tools/analyze_dependencies', { body: { entity } }))),
  });
  return (
    <section aria-labelledby="dependencies">
      <h2 id="dependencies">{t('dependencies')}</h2>
      {data ? (
        <>
          <p>
            {t('dependents', {
              direct: number(data.criticality.dependents),
              all: number(data.criticality.all_dependents),
            })}
          </p>
          <div className={own.columns}>
            <Listed title={t('dependsOn', { name: data.entity.name })} found={data.depends_on} />
            <Listed title={t('dependedBy', { name: data.entity.name })} found={data.depended_by} />
          </div>
          {data.cycles.map((cycle) => (
            <p key={cycle.join()}>{t('cycle', { names: cycle.join(' → ') })}</p>
          ))}
          {data.truncated && <p className={style.quiet}>{t('truncated')}</p>}
        </>
      ) : (
        <p role="status">{error?.message ?? t('loading')}</p>
      )}
    </section>
  );
}

function Listed({ title, found }: { title: string; found: Schemas['Dependency'][] }) {
  return (
    <div>
      <h3>{title}</h3>
      {found.length === 0 && <p className={style.quiet}>{t('nothing')}</p>}
      <ul>
        {found.map(({ id, name, depth, via }) => (
          <li key={id}>
            <Link href={entityHref(name)}>{name}</Link>
            {depth > 1 && (
              <span className={style.quiet}> {via ? t('stepsVia', { depth, via }) : t('stepsAway', { depth })}</span>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}
