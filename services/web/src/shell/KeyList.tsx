import { Button, Dialog, Heading, Modal } from 'react-aria-components';
import { type Key, t } from '../i18n';
import style from './dialogs.module.css';

const KEYS = [
  ['Ctrl K', 'keyPalette'],
  ['Ctrl /', 'keyThisList'],
  ['Enter', 'keySend'],
  ['Shift Enter', 'keyNewLine'],
  ['@', 'keyMention'],
  ['[ ]', 'keyCitations'],
  ['Ctrl F', 'keyFind'],
  ['Escape', 'keyClose'],
  ['Tab', 'keyTab'],
  ['↑ ↓', 'keyArrows'],
] as const satisfies [string, Key][];

/** The keys as they are labelled where the language is spoken. */
const named = (keys: string) => keys.replace('Ctrl', t('ctrlKey')).replace('Shift', t('shiftKey'));

/** The list of keyboard shortcuts. */
export default function KeyList({ onClose }: { onClose: () => void }) {
  return (
    <Modal isOpen isDismissable className={style.modal!} onOpenChange={onClose}>
      <Dialog className={style.dialog!}>
        <Heading slot="title">{t('keyList')}</Heading>
        <dl className={style.keys}>
          {KEYS.map(([keys, what]) => (
            <div key={keys}>
              <dt>
                <kbd>{named(keys)}</kbd>
              </dt>
              <dd>{t(what)}</dd>
            </div>
          ))}
        </dl>
        <div className={style.actions}>
          <Button autoFocus onPress={onClose}>
            {t('close')}
          </Button>
        </div>
      </Dialog>
    </Modal>
  );
}
