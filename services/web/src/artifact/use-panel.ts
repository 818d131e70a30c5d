import { useCallback, useEffect, useRef } from 'react';
import { useSearchParams } from 'wouter';
import type { Writing } from '../chat/turn';
import { useSession } from '../chat/use-messages';

const BESIDE = '(min-width: 60.01rem)'; // as in the style sheets: from this width the panel is beside the page
const CURRENT = 'current';

/**
 * Whether the panel is open, and at which version; the URL holds both. Where there is room, it opens with the session if
 * that has an artifact, and when a run writes.
 */
export function useArtifactPanel(sessionId: string, writing: Writing | undefined) {
  const [search, setSearch] = useSearchParams();
  const named = search.get('artifact');
  const index = named && /^[1-9]\d{0,9}$/.test(named) ? Number(named) : undefined;
  const takesFocus = useRef(false);
  const opener = useRef<Element | null>(null);
  const show = useCallback(
    (index: number | undefined, byHand: boolean) => {
      takesFocus.current = byHand;
      if (byHand) opener.current ??= document.activeElement;
      setSearch((now) => {
        now.set('artifact', String(index ?? CURRENT));
        if (byHand) now.delete('source'); // the source would cover the panel
        return now;
      });
    },
    [setSearch],
  );
  const open = useCallback((index?: number) => show(index, true), [show]);
  const close = () => {
    setSearch((now) => {
      now.delete('artifact');
      return now;
    });
    if (opener.current instanceof HTMLElement) opener.current.focus();
    opener.current = null;
  };
  const opened = useRef<string>(undefined);
  const { data: session } = useSession(sessionId);
  useEffect(() => {
    if (opened.current === sessionId || (named === null && !session?.artifact_index)) return;
    opened.current = sessionId;
    if (named === null && matchMedia(BESIDE).matches) show(undefined, false);
  }, [sessionId, session, named, show]);
  const isWriting = writing !== undefined;
  useEffect(() => {
    if (isWriting && matchMedia(BESIDE).matches) show(undefined, false);
  }, [isWriting, show]);
  return { isOpen: named !== null, index, takesFocus, open, close };
}
