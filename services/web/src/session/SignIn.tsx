import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Button, Input, Label, TextField } from 'react-aria-components';
import { api, body, type Problem } from '../api/client';
import { t } from '../i18n';
import { linkError } from './link';
import style from './session.module.css';

type Way = 'key' | 'password';
const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

/** Exchanges a key or a password for a cookie that no script can read; neither is stored here. */
export function SignIn({ onDone }: { onDone: () => void }) {
  const [way, setWay] = useState<Way>(LOOPBACK.includes(location.hostname) ? 'key' : 'password');
  const [error, setError] = useState(linkError);
  const [busy, setBusy] = useState(false);
  const methods = useQuery({ queryKey: ['methods'], queryFn: () => body(api.GET('/v1/auth/methods')) });
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    const text = (name: string) => String(given.get(name)).trim();
    setBusy(true);
    try {
      if (way === 'key') await api.POST('/v1/auth/key', { headers: { authorization: `Bearer ${text('key')}` } });
      else {
        const password = String(given.get('password'));
        await api.POST('/v1/auth/sign-in', { body: { login: text('login'), password } });
      }
      onDone();
    } catch (problem) {
      setError((problem as Problem).message);
      setBusy(false);
    }
  };
  const change = () => {
    setWay(way === 'key' ? 'password' : 'key');
    setError(undefined);
  };
  return (
    <main className={style.signIn}>
      <h1>Attractor</h1>
      <form key={way} onSubmit={submit}>
        {way === 'key' ? (
          <TextField name="key" type="password" autoComplete="off" isRequired autoFocus>
            <Label>{t('apiKey')}</Label>
            <Input />
            <p className={style.hint}>{t('keyHint')}</p>
          </TextField>
        ) : (
          <>
            <TextField name="login" autoComplete="username" isRequired autoFocus>
              <Label>{t('login')}</Label>
              <Input />
            </TextField>
            <TextField name="password" type="password" autoComplete="current-password" isRequired>
              <Label>{t('password')}</Label>
              <Input />
            </TextField>
          </>
        )}
        <Button type="submit" className={style.primary!} isDisabled={busy}>
          {t('signIn')}
        </Button>
        <Button onPress={change}>{t(way === 'key' ? 'withPassword' : 'withKey')}</Button>
        {methods.data?.openid && <a href="/v1/auth/openid">{t('signInAtProvider')}</a>}
        <p role="alert" className={style.error}>
          {error}
        </p>
      </form>
    </main>
  );
}
