import { Suspense, useLayoutEffect, useRef, useState } from 'react';
import { Button } from 'react-aria-components';
import { t } from '../i18n';
import { lazily } from './lazily';
import style from './notices.module.css';
import { deletions, type Notice } from './undo';
import { useNotices } from './use-deletions';

const ReceiptDialog = lazily(() => import('./ReceiptDialog'));

/** What was deleted, with Undo while that is possible, and then with its receipt. */
export function Notices() {
  const notices = useNotices();
  return (
    <section aria-label={t('notices')} aria-live="polite" className={style.notices}>
      {notices.map((notice) => (
        <Shown key={notice.key} notice={notice} />
      ))}
    </section>
  );
}

function Shown({ notice: { key, text, state, error, receipt } }: { notice: Notice }) {
  const box = useRef<HTMLDivElement>(null);
  const [reading, setReading] = useState(false);
  useLayoutEffect(() => {
    const shown = box.current!;
    // What was deleted held the focus; without it, one would be at the top of the page
    const frame = requestAnimationFrame(() => shown.querySelector('button')?.focus());
    return () => {
      cancelAnimationFrame(frame);
      if (shown.contains(document.activeElement)) focusPage();
    };
  }, []);
  const waiting = state === 'waiting';
  const release = () => {
    if (!reading && !box.current!.contains(document.activeElement)) deletions.release(key);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: whoever is at the message has time to read it
    <div
      ref={box}
      className={style.notice}
      data-state={state}
      onPointerEnter={() => deletions.hold(key)}
      onPointerLeave={release}
      onFocus={() => deletions.hold(key)}
      onBlur={() => setTimeout(() => box.current && release())} // the next element has the focus then
    >
      <span role={state === 'failed' ? 'alert' : undefined}>
        {state === 'failed' ? t('notDeleted', { what: text, reason: error ?? '' }) : text} {receipt?.sentence}
      </span>
      {waiting && <Button onPress={() => deletions.undo(key)}>{t('undo')}</Button>}
      {receipt && <Button onPress={() => setReading(true)}>{t('receipt')}</Button>}
      <Button
        aria-label={`${t('close')}: ${text}`}
        onPress={() => (waiting ? void deletions.now(key) : deletions.dismiss(key))}
      >
        ×
      </Button>
      {reading && receipt && (
        <Suspense>
          <ReceiptDialog title={text} receipt={receipt} onClose={() => setReading(false)} />
        </Suspense>
      )}
    </div>
  );
}

/** Moves the focus to the page's heading. */
function focusPage() {
  const heading = document.querySelector<HTMLElement>('main h1');
  heading?.setAttribute('tabindex', '-1');
  heading?.focus();
}
