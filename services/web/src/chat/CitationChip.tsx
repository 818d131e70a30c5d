import { Button, Tooltip, TooltipTrigger } from 'react-aria-components';
import type { Schemas } from '../api/client';
import { t } from '../i18n';
import style from './chat.module.css';

interface Props {
  citation: Schemas['Citation'];
  onOpen: (citation: Schemas['Citation']) => void;
}

/** The number of a citation: hover or focus shows its quote, a click opens the document there. */
export function CitationChip({ citation, onOpen }: Props) {
  const { number, quote, page, section } = citation;
  const title = citation.document_title ?? citation.document_name;
  return (
    <TooltipTrigger delay={200}>
      <Button
        className={style.chip!}
        data-citation={number}
        onPress={() => onOpen(citation)}
        aria-label={t('openSource', { number, title })}
      >
        {number}
      </Button>
      <Tooltip className={style.quote!} placement="top">
        <q>{quote}</q>
        <cite>{[title, section, page && t('page', { page })].filter(Boolean).join(' · ')}</cite>
      </Tooltip>
    </TooltipTrigger>
  );
}
