import { type ComponentProps, Suspense } from 'react';
import { t } from '../i18n';
import { lazily } from '../shell/lazily';
import style from './artifact.module.css';

const Editor = lazily(() => import('./Editor'));

/** The editor, loaded when the first text is opened. */
export const LazyEditor = (props: ComponentProps<typeof Editor>) => (
  <div className={style.editor}>
    <Suspense fallback={<p role="status">{t('loading')}</p>}>
      <Editor {...props} />
    </Suspense>
  </div>
);
