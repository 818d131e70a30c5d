import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api, body, type Schemas } from '../api/client';
import { useModel } from '../api/use-model';
import { t } from '../i18n';
import style from './chat.module.css';

interface Props {
  mode: Schemas['AnswerMode'] | undefined;
  kept: number;
  removed: number;
  /** It is the conversation's first answer that was quoted; the later ones say nothing of models. */
  isFirst: boolean;
}

/** What the check of the citations found; if no model could write the answer, where an owner sets one up. */
export function Checked({ mode, kept, removed, isFirst }: Props) {
  const isQuoted = mode === 'extractive';
  const lacksModel = useModel() === false && isQuoted && isFirst;
  const { data: caller } = useQuery({ queryKey: ['me'], queryFn: () => body(api.GET('/v1/me')) });
  return (
    <p className={style.note}>
      {isQuoted && kept > 0 && t('extractive')} {lacksModel && t('noModel')}{' '}
      {lacksModel && caller?.role === 'owner' && (
        <>
          <Link href="/admin/settings">{t('setUpModel')}</Link>.{' '}
        </>
      )}
      {t('checked', { kept, removed })}
    </p>
  );
}
