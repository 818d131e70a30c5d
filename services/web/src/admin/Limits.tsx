import { type QueryKey, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useEffect, useId, useState } from 'react';
import { Button } from 'react-aria-components';
import { api, body, type Schemas } from '../api/client';
import { type Key, number, t } from '../i18n';
import { useSchema, useSettings } from '../settings/api';
import { SettingField } from '../settings/SettingField';
import own from '../settings/settings.module.css';
import style from '../shell/page.module.css';

const MEGABYTE = 1_000_000;
const STORED = {
  documents: { name: 'limitDocuments', unit: 1 },
  bytes: { name: 'limitBytes', unit: MEGABYTE },
  sources: { name: 'limitSources', unit: 1 },
} as const satisfies Record<keyof Schemas['WorkspaceQuota'], { name: Key; unit: number }>;
const KINDS = Object.keys(STORED) as (keyof typeof STORED)[];

/** What the workspace may store, its keys may send and its models may use; owners change it. */
export function Limits({ caller }: { caller: Schemas['Caller'] }) {
  const id = caller.workspace.id;
  const params = { path: { workspace_id: id } };
  const quota = useQuery({ queryKey: ['quota'], queryFn: () => body(api.GET('/v1/quota')) });
  const workspace = useQuery({
    queryKey: ['workspace', id],
    queryFn: () => body(api.GET('/v1/workspaces/{workspace_id}', { params })),
  });
  const schema = useSchema();
  const settings = useSettings('workspace');
  const error = [quota, workspace, schema, settings].find((query) => query.error)?.error;
  const chosen = workspace.data?.key_requests_per_minute ?? null;
  const budgets = schema.data?.filter(({ category }) => category === 'budgets');
  return (
    <>
      <p className={style.quiet}>{t('limitsHint')}</p>
      <p role="status">{error?.message ?? (quota.data && workspace.data && settings.data ? '' : t('loading'))}</p>
      {quota.data && (
        <section aria-label={t('limitStored')}>
          <h2>{t('limitStored')}</h2>
          {KINDS.map((kind) => {
            const { name, unit } = STORED[kind];
            const { used, most, chosen } = quota.data[kind];
            const inUse = t('limitUsed', { used: number(used / unit, 1) });
            const inForce = ofOperator(most, chosen, unit);
            return (
              <LimitField
                key={kind}
                name={t(name)}
                hint={[inUse, inForce].filter(Boolean).join(' · ')}
                step={unit === 1 ? 1 : 'any'}
                least={unit === 1 ? 1 : 0.001}
                value={chosen === null ? null : chosen / unit}
                reads={['quota']}
                save={(value) =>
                  api.PATCH('/v1/quota', { body: { [kind]: value === null ? null : Math.ceil(value * unit) } })
                }
              />
            );
          })}
        </section>
      )}
      {workspace.data && (
        <section aria-label={t('keys')}>
          <h2>{t('keys')}</h2>
          <LimitField
            name={t('limitRequests')}
            hint={[t('limitRequestsHint'), ofOperator(workspace.data.most_key_requests_per_minute, chosen)]
              .filter(Boolean)
              .join(' · ')}
            least={60}
            value={chosen}
            reads={['workspace', id]}
            save={(value) =>
              api.PATCH('/v1/workspaces/{workspace_id}', { params, body: { key_requests_per_minute: value } })
            }
          />
        </section>
      )}
      {budgets && settings.data && (
        <section aria-label={t('setBudgets')}>
          <h2>{t('setBudgets')}</h2>
          {budgets.map((setting) => {
            const state = settings.data.find(({ key }) => key === setting.key);
            return <SettingField key={setting.key} setting={setting} state={state} scope="workspace" providers={[]} />;
          })}
        </section>
      )}
    </>
  );
}

/** Says what the operator allows, where that is the limit in force. */
function ofOperator(most: number | null, chosen: number | null, unit = 1): string {
  return most !== null && most !== chosen ? t('limitOperator', { most: number(most / unit, 1) }) : '';
}

interface FieldProps {
  name: string;
  hint: string;
  least?: number;
  step?: number | 'any';
  value: number | null;
  /** The key of what shows the limit. */
  reads: QueryKey;
  save: (value: number | null) => Promise<unknown>;
}

/** A limit as a number; empty means none. */
function LimitField({ name, hint, least = 1, step = 1, value, reads, save }: FieldProps) {
  const client = useQueryClient();
  const id = useId();
  const before = value === null ? '' : String(value);
  const [text, setText] = useState(before);
  useEffect(() => setText(before), [before]);
  const change = useMutation({
    mutationFn: () => save(text === '' ? null : Number(text)),
    onSuccess: () => client.invalidateQueries({ queryKey: reads }),
  });
  const isChanged = text !== before;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isChanged) change.mutate();
  };
  return (
    <form className={own.setting} onSubmit={submit}>
      <div>
        <label htmlFor={id}>
          <strong>{name}</strong>
        </label>
        <p id={`${id}-what`} className={style.quiet}>
          {hint}
        </p>
      </div>
      <input
        id={id}
        type="number"
        min={least}
        step={step}
        value={text}
        aria-describedby={`${id}-what`}
        onChange={({ target }) => setText(target.value)}
      />
      {isChanged && (
        <div className={style.actions}>
          <Button
            type="submit"
            className={style.primary!}
            isDisabled={change.isPending}
            aria-label={`${t('save')}: ${name}`}
          >
            {t('save')}
          </Button>
        </div>
      )}
      <p role="alert" className={style.error}>
        {change.error?.message}
      </p>
    </form>
  );
}
