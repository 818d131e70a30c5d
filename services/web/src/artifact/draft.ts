// A person's text while it is not saved. Pure but for the tab's storage, in which it survives a reload.
import type { Artifact } from './artifacts';

export interface Draft {
  /** The artifact as the text was last in step with it. */
  base: Artifact;
  text: string;
}

/** What was saved meanwhile by others, and what was typed here; without `theirs` the artifact was deleted. */
export interface Conflict {
  theirs: Artifact | null;
  mine: string;
}

type Stored = { version: number; before: string; text: string };
const place = (artifactId: string) => `attractor.draft.${artifactId}`;

export const isChanged = ({ base, text }: Draft) => text !== base.text;

/** The draft to begin with: what an earlier page of this tab could not save goes first. */
export function opened(artifact: Artifact, storage: Storage = sessionStorage): Draft {
  const stored = storage.getItem(place(artifact.id));
  if (stored === null) return { base: artifact, text: artifact.text };
  const { version, before, text } = JSON.parse(stored) as Stored;
  return { base: { ...artifact, version, text: before }, text };
}

/** Keeps the text in the tab as long as it is not saved. False if the browser has no room for it. */
export function keep({ base, text }: Draft, storage: Storage = sessionStorage): boolean {
  try {
    if (text === base.text) storage.removeItem(place(base.id));
    else
      storage.setItem(
        place(base.id),
        JSON.stringify({ version: base.version, before: base.text, text } satisfies Stored),
      );
    return true;
  } catch {
    return false; // the page still holds it
  }
}

/** The draft beside a newer artifact: one that was not changed follows it, a changed one waits until it is saved. */
export function beside(draft: Draft, loaded: Artifact): Draft {
  if (loaded.version <= draft.base.version && loaded.id === draft.base.id) return draft;
  if (!isChanged(draft)) return { base: loaded, text: loaded.text };
  return loaded.text === draft.base.text ? { base: loaded, text: draft.text } : draft;
}
