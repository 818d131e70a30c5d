import { useState } from 'react';
import { t } from '../i18n';
import {
  chosenLanguage,
  chosenScheme,
  keepLanguage,
  keepScheme,
  LANGUAGES,
  type Language,
  SCHEMES,
  type Scheme,
} from '../shell/appearance';
import { Choice } from '../shell/Choice';
import style from '../shell/page.module.css';

const BY_BROWSER = '';

/** Language and colours of the pages in this browser, for every user. */
export function Appearance() {
  const [scheme, setScheme] = useState<Scheme | typeof BY_BROWSER>(chosenScheme() ?? BY_BROWSER);
  const browser = { value: BY_BROWSER, name: t('asBrowser') } as const;
  const languages = (Object.keys(LANGUAGES) as Language[]).map((value) => ({ value, name: LANGUAGES[value] }));
  const schemes = (Object.keys(SCHEMES) as Scheme[]).map((value) => ({ value, name: t(SCHEMES[value]) }));
  return (
    <section aria-label={t('inThisBrowser')}>
      <h2>{t('inThisBrowser')}</h2>
      <div className={style.form}>
        <Choice
          label={t('pageLanguage')}
          value={chosenLanguage() ?? BY_BROWSER}
          options={[browser, ...languages]}
          onChange={(language) => {
            keepLanguage(language || undefined);
            location.reload(); // strings are chosen when the pages are loaded
          }}
        />
        <Choice
          label={t('scheme')}
          value={scheme}
          options={[browser, ...schemes]}
          onChange={(chosen) => {
            keepScheme(chosen || undefined);
            setScheme(chosen);
          }}
        />
      </div>
    </section>
  );
}
