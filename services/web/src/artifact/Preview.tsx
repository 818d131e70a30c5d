import { Answer } from '../chat/Answer';
import { t } from '../i18n';
import style from './artifact.module.css';

/** The rendered text; citation numbers stay plain text, because they are opened from the answer. */
export const Preview = ({ text }: { text: string }) => (
  <section className={style.preview} tabIndex={0} aria-label={t('viewPreview')}>
    <Answer text={text} citations={[]} onOpen={() => undefined} />
  </section>
);
