import { useQuery } from '@tanstack/react-query';
import { Button, Dialog, Heading, Modal } from 'react-aria-components';
import { number, t } from '../i18n';
import { nameOf } from './counted';
import style from './dialogs.module.css';
import page from './page.module.css';
import type { Receipt } from './undo';

const AGAIN_MILLISECONDS = 2000;

interface Props {
  title: string;
  receipt: Receipt;
  onClose: () => void;
}

/** What was deleted where, and what is left of it; read again until every service has confirmed. */
export default function ReceiptDialog({ title, receipt, onClose }: Props) {
  const { data = receipt, error } = useQuery({
    queryKey: ['receipt', title],
    enabled: Boolean(receipt.again),
    queryFn: receipt.again!,
    refetchInterval: ({ state }) => Boolean(state.data?.again) && AGAIN_MILLISECONDS,
    gcTime: 0,
  });
  const services = [...new Set(data.parts.map(({ service }) => service))];
  return (
    <Modal isOpen isDismissable className={style.modal!} onOpenChange={onClose}>
      <Dialog className={`${style.dialog} ${style.wide}`}>
        <Heading slot="title">{t('receipt')}</Heading>
        <p>{title}</p>
        {data.parts.length > 0 && (
          <div className={page.table}>
            <table>
              <thead>
                <tr>
                  <th>{t('whatWentAway')}</th>
                  <th className={page.number}>{t('removedCount')}</th>
                  <th className={page.number}>{t('remainingCount')}</th>
                </tr>
              </thead>
              {services.map((name) => (
                <tbody key={name ?? ''}>
                  {name && (
                    <tr>
                      <th colSpan={3} scope="rowgroup">
                        {name}
                      </th>
                    </tr>
                  )}
                  {data.parts
                    .filter(({ service }) => service === name)
                    .map(({ kind, removed, remaining }) => (
                      <tr key={kind}>
                        <td>{nameOf(kind)}</td>
                        <td className={page.number}>{number(removed)}</td>
                        <td className={page.number}>{number(remaining)}</td>
                      </tr>
                    ))}
                </tbody>
              ))}
            </table>
          </div>
        )}
        <p role="status">{error?.message ?? data.sentence}</p>
        <div className={style.actions}>
          <Button autoFocus onPress={onClose}>
            {t('close')}
          </Button>
        </div>
      </Dialog>
    </Modal>
  );
}
