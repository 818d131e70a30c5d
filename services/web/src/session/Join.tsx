import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Button, Input, Label, TextField } from 'react-aria-components';
import { useLocation } from 'wouter';
import { api, body, type Problem } from '../api/client';
import { t } from '../i18n';
import style from './session.module.css';

/** Accepts the invitation whose token is in the URL's fragment, which no server or log sees. */
export function Join({ onDone }: { onDone: () => void }) {
  const [token] = useState(() => location.hash.slice(1));
  const [, go] = useLocation();
  const [error, setError] = useState<string>();
  const [busy, setBusy] = useState(false);
  const session = useQuery({ queryKey: ['session'], queryFn: () => body(api.GET('/v1/auth/session')) });
  const methods = useQuery({ queryKey: ['methods'], queryFn: () => body(api.GET('/v1/auth/methods')) });
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    const name = String(given.get('name') ?? '').trim();
    const password = given.get('password');
    setBusy(true);
    try {
      await api.POST('/v1/auth/join', {
        body: { token, ...(name && { name }), ...(password !== null && { password: String(password) }) },
      });
      go('/', { replace: true });
      onDone();
    } catch (problem) {
      setError((problem as Problem).message);
      setBusy(false);
    }
  };
  if (session.isPending) return <p role="status">{t('loading')}</p>;
  return (
    <main className={style.signIn}>
      <h1>{t('invited')}</h1>
      <form onSubmit={submit}>
        {session.data ? (
          <p>{t('joinAs', { name: session.data.user.name })}</p>
        ) : (
          <>
            <TextField name="name" autoComplete="name" autoFocus>
              <Label>{t('name')}</Label>
              <Input />
              <p className={style.hint}>{t('nameHint')}</p>
            </TextField>
            <TextField name="password" type="password" autoComplete="new-password" isRequired minLength={12}>
              <Label>{t('password')}</Label>
              <Input />
              <p className={style.hint}>{t('passwordHint')}</p>
            </TextField>
          </>
        )}
        <Button type="submit" className={style.primary!} isDisabled={busy}>
          {t('join')}
        </Button>
        {!session.data && methods.data?.openid && (
          <a href={`/v1/auth/openid?invitation=${encodeURIComponent(token)}`}>{t('signInAtProvider')}</a>
        )}
        <p role="alert" className={style.error}>
          {error}
        </p>
      </form>
    </main>
  );
}
