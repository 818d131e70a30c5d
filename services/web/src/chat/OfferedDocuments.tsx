import { useEffect, useRef } from 'react';
import { t } from '../i18n';
import style from './chat.module.css';
import type { Offer } from './use-mention';

interface Props {
  /** The id of the list; its options have it too, followed by their place. */
  id: string;
  offer: Offer | undefined;
}

/** The documents that can be named; the focus stays in the text field, whose keys choose. */
export function OfferedDocuments({ id, offer }: Props) {
  const chosen = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another option has become the active one
  useEffect(() => void chosen.current?.scrollIntoView({ block: 'nearest' }), [offer?.active]);
  return (
    <>
      <span role="status" className="hidden">
        {offer && (offer.isEmpty ? t('noDocumentNamed') : t('documentsOffered', { count: offer.documents.length }))}
      </span>
      {offer?.isEmpty && <span className={style.note}>{t('noDocumentNamed')}</span>}
      {offer && offer.documents.length > 0 && (
        <div id={id} role="listbox" aria-label={t('nameDocument')} className={style.offered}>
          {offer.documents.map((document, place) => (
            // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the text field
            // biome-ignore lint/a11y/useKeyWithClickEvents: its keys choose
            <div
              key={document.id}
              id={`${id}-${place}`}
              ref={place === offer.active ? chosen : undefined}
              role="option"
              aria-selected={place === offer.active}
              onMouseDown={(event) => event.preventDefault()} // keeps the focus
              onClick={() => offer.choose(document)}
            >
              {document.title ?? document.name}
              {document.title && <small>{document.name}</small>}
            </div>
          ))}
        </div>
      )}
    </>
  );
}
