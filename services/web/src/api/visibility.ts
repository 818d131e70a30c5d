// Whether the user sees this tab.

export const isHidden = (): boolean => document.visibilityState === 'hidden';

/** Calls `look` now and whenever the tab is hidden or shown; returns a function that ends this. */
export function onVisibility(look: () => void): () => void {
  document.addEventListener('visibilitychange', look);
  look();
  return () => document.removeEventListener('visibilitychange', look);
}

/** Waits while the tab is hidden; rejects if the signal aborts. */
export async function visible(signal: AbortSignal): Promise<void> {
  while (isHidden())
    await new Promise<void>((resolve, reject) => {
      document.addEventListener('visibilitychange', () => resolve(), { once: true, signal });
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
  signal.throwIfAborted();
}
