import { useState } from 'react';
import { Button } from 'react-aria-components';
import { t } from '../i18n';
import page from '../shell/page.module.css';
import ReceiptDialog from '../shell/ReceiptDialog';
import type { Notice } from '../shell/undo';
import { useReceipts } from '../shell/use-deletions';

/** What was deleted here since the page was opened, with its receipts; `prefix` begins the keys. */
export function DeletedHere({ prefix }: { prefix: string }) {
  const found = useReceipts().filter(({ key }) => key.startsWith(prefix));
  const [opened, setOpened] = useState<Notice>();
  if (found.length === 0) return null;
  return (
    <details className={page.quiet}>
      <summary>{t('deletedHere', { count: found.length })}</summary>
      <ul className={page.rows}>
        {found.map((notice) => (
          <li key={notice.key}>
            <span className={page.words}>
              {notice.text} {notice.receipt!.sentence}
            </span>
            <Button onPress={() => setOpened(notice)} aria-label={`${t('receipt')}: ${notice.text}`}>
              {t('receipt')}
            </Button>
          </li>
        ))}
      </ul>
      {opened && <ReceiptDialog title={opened.text} receipt={opened.receipt!} onClose={() => setOpened(undefined)} />}
    </details>
  );
}
