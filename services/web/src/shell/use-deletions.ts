import { useSyncExternalStore } from 'react';
import { deletions } from './undo';

/** The keys of what is deleted, or soon will be; lists leave it out. */
export const useHidden = () => useSyncExternalStore(deletions.subscribe, deletions.hidden);
export const useNotices = () => useSyncExternalStore(deletions.subscribe, deletions.shown);
export const useReceipts = () => useSyncExternalStore(deletions.subscribe, deletions.receipts);
