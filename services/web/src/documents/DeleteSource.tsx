import { useQueryClient } from '@tanstack/react-query';
import { Button, Dialog, Heading, Modal } from 'react-aria-components';
import { api, type Schemas } from '../api/client';
import { number, t } from '../i18n';
import dialog from '../shell/dialogs.module.css';
import { receiptOfAll } from '../shell/receipts';
import { deletions, type Receipt } from '../shell/undo';

const WAIT_SECONDS = 10;

interface Props {
  source: Schemas['Source'];
  onClose: () => void;
}

/** Asks what becomes of the documents; either can be undone for a moment. */
export function DeleteSource({ source: { id, name, documents }, onClose }: Props) {
  const client = useQueryClient();
  const params = { path: { source_id: id } };
  const receipt = (deletion: Schemas['SourceDeletion']): Receipt => receiptOfAll(deletion, read);
  const read = async () => receipt((await api.GET('/v1/sources/{source_id}/receipt', { params })).data!);
  const remove = (keep: boolean) => {
    onClose();
    deletions.later({
      key: `source:${id}`,
      text: t(keep ? 'sourceDeleted' : 'sourceDeletedToo', { name, count: number(documents) }),
      send: async () => {
        const query = { keep_documents: keep, timeout: WAIT_SECONDS };
        const sent = { params: { ...params, query }, keepalive: true };
        const { data } = await api.DELETE('/v1/sources/{source_id}', sent);
        return data && !keep ? receipt(data) : undefined;
      },
      after: () => Promise.all(['sources', 'documents'].map((key) => client.invalidateQueries({ queryKey: [key] }))),
    });
  };
  return (
    <Modal isOpen isDismissable className={dialog.modal!} onOpenChange={onClose}>
      <Dialog role="alertdialog" className={dialog.dialog!}>
        <Heading slot="title">{t('deleteSource', { name })}</Heading>
        <div className={dialog.actions}>
          <Button autoFocus onPress={onClose}>
            {t('cancel')}
          </Button>
          <Button onPress={() => remove(true)}>{t('keepDocuments')}</Button>
          <Button className={dialog.danger!} onPress={() => remove(false)}>
            {t('deleteDocumentsToo', { count: number(documents) })}
          </Button>
        </div>
      </Dialog>
    </Modal>
  );
}
