import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Button } from 'react-aria-components';
import { api, body, type Schemas } from '../api/client';
import { size, t } from '../i18n';
import { useHidden } from '../shell/use-deletions';
import { deleteDocument, keyOf } from './deletion';
import style from './documents.module.css';
import { Stages } from './Stages';
import { stateInWords } from './stage-words';
import { STATES } from './states';

interface Props {
  document: Schemas['Document'];
  /** Its place in the list, from 1. */
  position: number;
  mayChange: boolean;
}

/** A document with its state and, if it is not wholly searchable, why. */
export function DocumentRow({ document, position, mayChange }: Props) {
  const client = useQueryClient();
  const hidden = useHidden();
  const params = { path: { document_id: document.id } };
  const again = () => client.invalidateQueries({ queryKey: ['documents'] });
  const retry = useMutation({
    mutationFn: () => api.POST('/v1/documents/{document_id}/retry', { params }),
    onSuccess: again,
  });
  const cancel = useMutation({
    mutationFn: () => api.POST('/v1/documents/{document_id}/cancel', { params }),
    onSuccess: again,
  });
  const name = document.title ?? document.name;
  const stopped =
    document.status === 'failed' || document.status === 'cancelled' || document.embedding_status === 'failed';
  if (hidden.has(keyOf(document.id))) return null;
  return (
    // biome-ignore lint/a11y/useSemanticElements: see DocumentList
    <div role="listitem" aria-posinset={position} aria-setsize={-1} className={style.row}>
      <div className={style.names}>
        <strong>{name}</strong>
        <span className={style.quiet}>
          {document.title && `${document.name} · `}
          {size(document.file_size)}
        </span>
        {(document.status !== 'searchable' || document.embedding_status === 'failed') && (
          <Explanation document={document} />
        )}
        <Stages document={document} />
        {(retry.error ?? cancel.error) && <span role="alert">{(retry.error ?? cancel.error)?.message}</span>}
      </div>
      <span className={style.state} data-status={document.status}>
        {t(STATES[document.status])}
      </span>
      {mayChange && (
        <div className={style.actions}>
          {stopped && (
            <Button onPress={() => retry.mutate()} aria-label={`${t('retry')}: ${name}`}>
              {t('retry')}
            </Button>
          )}
          {document.status === 'processing' && (
            <Button
              isDisabled={cancel.isPending}
              onPress={() => cancel.mutate()}
              aria-label={`${t('cancel')}: ${name}`}
            >
              {t('cancel')}
            </Button>
          )}
          <Button
            isDisabled={document.status === 'deleting'}
            onPress={() => deleteDocument(client, document)}
            aria-label={`${t('delete')}: ${name}`}
          >
            {t('delete')}
          </Button>
        </div>
      )}
    </div>
  );
}

function Explanation({ document }: { document: Schemas['Document'] }) {
  const { data } = useQuery({
    queryKey: ['explanation', document.id, document.updated_at],
    queryFn: () => body(api.GET('/v1/documents/{document_id}', { params: { path: { document_id: document.id } } })),
  });
  const why = data && stateInWords(data);
  return why ? <span className={style.quiet}>{why}</span> : null;
}
