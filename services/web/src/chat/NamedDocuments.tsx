import { useQuery } from '@tanstack/react-query';
import { Button } from 'react-aria-components';
import { api, body } from '../api/client';
import { t } from '../i18n';
import style from './chat.module.css';
import type { NamedDocument } from './mentions';

interface Props {
  documents: readonly NamedDocument[];
  onRemove?: (id: string) => void;
}

/** The documents to which a question limits its answer. */
export function NamedDocuments({ documents, onRemove }: Props) {
  if (documents.length === 0) return null;
  return (
    <div className={style.named}>
      {t('onlyFrom')}
      <ul aria-label={t('onlyFrom')}>
        {documents.map(({ id, name }) => (
          <li key={id}>
            {name}
            {onRemove && (
              <Button onPress={() => onRemove(id)} aria-label={`${t('remove')}: ${name}`}>
                ×
              </Button>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}

/** The same for a question that was asked: of the documents only the ids are stored. */
export function LimitedTo({ ids }: { ids: readonly string[] }) {
  const shown = ids.slice(0, 100);
  const { data } = useQuery({
    queryKey: ['documents', 'by-id', shown],
    queryFn: () => body(api.GET('/v1/documents', { params: { query: { ids: shown, limit: 100 } } })),
  });
  if (!data) return null;
  const names = new Map(data.items.map(({ id, title, name }) => [id, title ?? name]));
  return <NamedDocuments documents={shown.map((id) => ({ id, name: names.get(id) ?? t('deletedDocument') }))} />;
}
