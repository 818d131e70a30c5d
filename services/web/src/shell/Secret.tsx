import { useMutation } from '@tanstack/react-query';
import { Button } from 'react-aria-components';
import { t } from '../i18n';
import style from './page.module.css';

/** A key or link that is shown only once, to be copied. */
export function Secret({ label, text }: { label: string; text: string }) {
  const copy = useMutation({ mutationFn: () => navigator.clipboard.writeText(text) });
  return (
    <p role="status" className={style.secret}>
      {label} <code>{text}</code> {/* A page that did not come by TLS has no clipboard */}
      {navigator.clipboard && <Button onPress={() => copy.mutate()}>{t(copy.isSuccess ? 'copied' : 'copy')}</Button>}
      {copy.error?.message}
    </p>
  );
}
