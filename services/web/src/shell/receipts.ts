// Receipts of deletions in words. Pure.
import type { Schemas } from '../api/client';
import { number, t } from '../i18n';
import type { Receipt, ReceiptPart } from './undo';

type Counts = Record<string, number>;

const sum = (counts: Counts) => Object.values(counts).reduce((all, count) => all + count, 0);

/** Counts by kind; what was not there and is not there is left out. */
const partsOf = (removed: Counts, remaining: Counts, service?: string): ReceiptPart[] =>
  [...new Set([...Object.keys(removed), ...Object.keys(remaining)])]
    .map((kind) => ({
      kind,
      removed: removed[kind] ?? 0,
      remaining: remaining[kind] ?? 0,
      ...(service && { service }),
    }))
    .filter((part) => part.removed + part.remaining > 0);

const left = (remaining: number): string =>
  remaining === 0 ? t('nothingLeft') : t('someLeft', { count: number(remaining) });

/** The receipt of what one service deleted. */
export const receiptOf = ({ removed, remaining }: { removed: Counts; remaining: Counts }): Receipt => ({
  sentence: left(sum(remaining)),
  parts: partsOf(removed, remaining),
});

/** The receipt of what every service deleted; `read` gets it again until all have confirmed. */
export function receiptOfAll(
  given: Pick<Schemas['DeletionReceipt'], 'services' | 'completed_at'> & { pending?: string[] },
  read: () => Promise<Receipt>,
): Receipt {
  const { services, completed_at: completed, pending } = given;
  const parts = services.flatMap(({ service, removed, remaining }) => partsOf(removed, remaining, service));
  const all = services.reduce((count, { remaining }) => count + sum(remaining), 0);
  if (completed) return { sentence: left(all), parts };
  const names = pending?.join(', ');
  return { sentence: names ? t('stillDeleting', { names }) : t('statusDeleting'), parts, again: read };
}
