import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Button, Input, Label, TextField } from 'react-aria-components';
import { api, body, type Schemas } from '../api/client';
import { t, when } from '../i18n';
import style from '../shell/page.module.css';
import { EditText } from './EditText';
import { WorldHistory } from './WorldHistory';
import { FIELDS, inWords, LISTS, worldOf } from './world';

type Operation = Schemas['WorldOperation'];

interface Props {
  /** The conversation of this world; without it, the workspace's. */
  sessionId: string | undefined;
  mayChange: boolean;
  userId: string;
}

/** A world state: what users and assistant have agreed on, with its history. */
export function WorldState({ sessionId, mayChange, userId }: Props) {
  const client = useQueryClient();
  const params = { query: worldOf(sessionId) };
  const { data, error } = useQuery({
    queryKey: ['world', sessionId, 'now'],
    queryFn: () => body(api.GET('/v1/world', { params })),
  });
  const again = () => client.invalidateQueries({ queryKey: ['world', sessionId] });
  const change = useMutation({
    mutationFn: (operation: Operation) =>
      api.POST('/v1/world/operations', { params, body: { operations: [operation] } }),
    onSuccess: again,
  });
  if (!data) return <p role="status">{error?.message ?? t('loading')}</p>;
  const { document } = data;
  const onChange: Change = mayChange
    ? (operation, onDone) => change.mutate(operation, onDone && { onSuccess: onDone })
    : undefined;
  const extra = Object.entries(document.extra ?? {});
  return (
    <>
      <p className={style.quiet}>{t(sessionId ? 'sessionWorldHint' : 'worldHint')}</p>
      <p className={style.quiet}>{t('worldVersion', { version: data.version, when: when(data.updated_at) })}</p>
      <p role="alert" className={style.error}>
        {change.error?.message}
      </p>
      <ul className={style.rows}>
        {FIELDS.map(({ path, label, of }) => (
          <Field
            key={path}
            path={path}
            label={t(label)}
            value={of(document) ?? ''}
            error={change.error?.message}
            onChange={onChange}
          />
        ))}
        {extra.map(([name, value]) => (
          <li key={name}>
            <span className={style.words}>
              <span className={style.quiet}>{name}</span>
              {inWords(value)}
            </span>
          </li>
        ))}
      </ul>
      {LISTS.map(({ path, label, of }) => (
        <List key={path} path={path} label={t(label)} items={of(document)} onChange={onChange} />
      ))}
      <WorldHistory
        sessionId={sessionId}
        current={data.version}
        mayChange={mayChange}
        userId={userId}
        onReverted={again}
      />
    </>
  );
}

/** Makes a change; an error is told above the list, and what was typed stays. */
type Change = ((operation: Operation, onDone?: () => void) => void) | undefined;

interface FieldProps {
  path: string;
  label: string;
  value: string;
  error: string | undefined;
  onChange: Change;
}

function Field({ path, label, value, error, onChange }: FieldProps) {
  const [editing, setEditing] = useState(false);
  const save = (text: string) => onChange?.({ op: 'set', path, value: text }, () => setEditing(false));
  return (
    <li>
      <span className={style.words}>
        <span className={style.quiet}>{label}</span>
        {value || '–'}
      </span>
      {onChange && (
        <div className={style.actions}>
          <Button onPress={() => setEditing(true)} aria-label={`${t('edit')}: ${label}`}>
            {t('edit')}
          </Button>
          {value && path !== '/timezone' && (
            <Button onPress={() => onChange({ op: 'remove', path })} aria-label={`${t('clear')}: ${label}`}>
              {t('clear')}
            </Button>
          )}
        </div>
      )}
      {editing && (
        <EditText
          title={label}
          label={t('value')}
          text={value}
          error={error}
          onText={save}
          onCancel={() => setEditing(false)}
        />
      )}
    </li>
  );
}

function List({ path, label, items, onChange }: { path: string; label: string; items: string[]; onChange: Change }) {
  const [text, setText] = useState('');
  const add = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim()) onChange?.({ op: 'add', path, value: text.trim() }, () => setText(''));
  };
  if (!onChange && items.length === 0) return null;
  return (
    <section aria-label={label}>
      <h2>{label}</h2>
      <ul className={style.rows}>
        {items.map((item) => (
          <li key={item}>
            <span className={style.words}>{item}</span>
            {onChange && (
              <Button
                onPress={() => onChange({ op: 'remove', path, value: item })}
                aria-label={`${t('remove')}: ${item}`}
              >
                {t('remove')}
              </Button>
            )}
          </li>
        ))}
      </ul>
      {onChange && (
        <form className={style.form} onSubmit={add}>
          <TextField className={style.grow!} value={text} onChange={setText} maxLength={1_000}>
            <Label className="hidden">{t('addTo', { name: label })}</Label>
            <Input placeholder={t('addTo', { name: label })} />
          </TextField>
          <Button type="submit" isDisabled={!text.trim()} aria-label={`${t('add')}: ${label}`}>
            {t('add')}
          </Button>
        </form>
      )}
    </section>
  );
}
