import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState } from 'react';
import { Problem } from '../api/client';
import { type Artifact, putArtifact, readArtifact } from './artifacts';
import { beside, type Conflict, type Draft, isChanged, keep, opened } from './draft';

const PAUSE = 3_000; // milliseconds without a keystroke before the text is saved
export type SaveState = 'saved' | 'changed' | 'saving' | 'failed';

/** The edited text, saved after a pause; a version saved by somebody else in the meantime is a conflict. */
export function useDraft(sessionId: string, loaded: Artifact) {
  const client = useQueryClient();
  const draft = useRef<Draft>(undefined);
  draft.current ??= opened(loaded);
  const [shown, setShown] = useState({ revision: 0, ...draft.current });
  const [state, setState] = useState<SaveState>(isChanged(draft.current) ? 'changed' : 'saved');
  const [conflict, setConflict] = useState<Conflict>();
  const [error, setError] = useState<string>();
  const saving = useRef<Promise<boolean>>(undefined);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const undecided = useRef(false);

  const show = useCallback((next: Draft) => {
    draft.current = next;
    keep(next);
    setState(isChanged(next) ? 'changed' : 'saved');
    setShown(({ revision }) => ({ revision: revision + 1, ...next }));
  }, []);

  const saveOnce = useCallback(async (): Promise<boolean> => {
    for (let now = draft.current!; isChanged(now); now = draft.current!) {
      const { base, text } = now;
      try {
        const { kind, language, title } = base;
        const saved = await putArtifact(sessionId, { kind, language, title, text }, base.version);
        draft.current = { base: saved, text: draft.current!.text };
        client.setQueryData(['artifact', sessionId], saved);
      } catch (reason) {
        if (!(reason instanceof Problem && reason.status === 412)) throw reason;
        const theirs = await readArtifact(sessionId);
        if (theirs?.text === text) draft.current = { base: theirs, text: draft.current!.text };
        else {
          undecided.current = true;
          setConflict({ theirs, mine: draft.current!.text });
          return false;
        }
      }
      setShown((shown) => ({ ...shown, base: draft.current!.base }));
    }
    return true;
  }, [client, sessionId]);

  /** Saves unsaved text; returns false if that failed. */
  const save = useCallback((): Promise<boolean> => {
    clearTimeout(timer.current);
    if (undecided.current) return Promise.resolve(false);
    if (saving.current) return saving.current;
    setState('saving');
    setError(undefined);
    saving.current = saveOnce()
      .catch((reason: Error) => {
        setError(reason.message);
        return false;
      })
      .then((done) => {
        saving.current = undefined;
        keep(draft.current!);
        setState(done ? 'saved' : 'failed');
        return done;
      });
    return saving.current;
  }, [saveOnce]);

  const type = useCallback(
    (text: string) => {
      draft.current = { base: draft.current!.base, text };
      keep(draft.current);
      clearTimeout(timer.current);
      if (undecided.current) return;
      if (!saving.current) setState(isChanged(draft.current) ? 'changed' : 'saved');
      timer.current = setTimeout(save, PAUSE);
    },
    [save],
  );

  /** Resolves the conflict with a text, or with theirs; recreates a deleted artifact. */
  const decide = async (text?: string) => {
    const { kind, language, title } = draft.current!.base;
    try {
      const mine = { kind, language, title, text: text ?? '' };
      const theirs = conflict!.theirs ?? (await putArtifact(sessionId, mine));
      undecided.current = false;
      setConflict(undefined);
      client.setQueryData(['artifact', sessionId], theirs);
      show({ base: theirs, text: text ?? theirs.text });
      await save();
    } catch (reason) {
      setError((reason as Error).message);
    }
  };

  useEffect(() => {
    if (saving.current || undecided.current) return;
    const next = beside(draft.current!, loaded);
    if (next !== draft.current) show(next);
  }, [loaded, show]);
  useEffect(() => {
    if (isChanged(draft.current!)) void save(); // left over from an earlier page
    return () => void save();
  }, [save]);
  const latest = () => draft.current!.base;
  const typed = () => draft.current!.text;
  return { ...shown, state, error, conflict, type, save, decide, latest, typed };
}
