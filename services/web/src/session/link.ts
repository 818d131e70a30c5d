import { api } from '../api/client';

const CODE = /^#code=([A-Za-z0-9_-]+)$/;
export let linkError: string | undefined;

/** Signs in with the one-time code in the URL, which is removed at once; the sign-in page shows a failure. */
export async function signInByLink(): Promise<void> {
  const code = CODE.exec(location.hash)?.[1];
  if (!code) return;
  history.replaceState(null, '', location.pathname);
  try {
    await api.POST('/v1/auth/code', { body: { code } });
  } catch (error) {
    linkError = (error as Error).message;
  }
}
