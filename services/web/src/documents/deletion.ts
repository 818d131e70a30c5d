import type { QueryClient } from '@tanstack/react-query';
import { api, body, Problem, type Schemas } from '../api/client';
import { t } from '../i18n';
import { receiptOfAll } from '../shell/receipts';
import { deletions, type Receipt } from '../shell/undo';

const WAIT_SECONDS = 10;

export const keyOf = (documentId: string): string => `document:${documentId}`;

/** Deletes the document everywhere, unless it is undone. */
export function deleteDocument(client: QueryClient, { id, title, name }: Schemas['Document']): void {
  const params = { path: { document_id: id } };
  const read = async (): Promise<Receipt> =>
    receiptOfAll(await body(api.GET('/v1/documents/{document_id}/receipt', { params })), read);
  deletions.later({
    key: keyOf(id),
    text: t('documentDeleted', { name: title ?? name }),
    send: async () => {
      try {
        const query = { timeout: WAIT_SECONDS };
        const sent = api.DELETE('/v1/documents/{document_id}', { params: { ...params, query }, keepalive: true });
        return receiptOfAll(await body(sent), read);
      } catch (problem) {
        if (problem instanceof Problem && problem.status === 404) return undefined; // somebody else deleted it
        throw problem;
      }
    },
    after: () => client.invalidateQueries({ queryKey: ['documents'] }),
  });
}
