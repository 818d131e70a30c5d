// Unsaved text of the user. Pure except for the tab's storage, in which it survives a reload.
import type { Artifact } from './artifacts';

export interface Draft {
  /** The artifact on which the text is based. */
  base: Artifact;
  text: string;
}

/** A version saved by others, and the text typed here; without `theirs`, the artifact was deleted. */
export interface Conflict {
  theirs: Artifact | null;
  mine: string;
}

type Stored = { version: number; before: string; text: string };
const place = (artifactId: string) => `attractor.draft.${artifactId}`;

export const isChanged = ({ base, text }: Draft) => text !== base.text;

/** Returns the initial draft: unsaved text of an earlier page in this tab takes precedence. */
export function opened(artifact: Artifact, storage: Storage = sessionStorage): Draft {
  const stored = storage.getItem(place(artifact.id));
  if (stored === null) return { base: artifact, text: artifact.text };
  const { version, before, text } = JSON.parse(stored) as Stored;
  return { base: { ...artifact, version, text: before }, text };
}

/** Stores the text in the tab until it is saved. Returns false if the browser has no space for it. */
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
    return false; // the page itself still has the text
  }
}

/** Returns the draft for a newer artifact: an unchanged draft follows it, a changed one stays until it is saved. */
export function beside(draft: Draft, loaded: Artifact): Draft {
  if (loaded.version <= draft.base.version && loaded.id === draft.base.id) return draft;
  if (!isChanged(draft)) return { base: loaded, text: loaded.text };
  return loaded.text === draft.base.text ? { base: loaded, text: draft.text } : draft;
}
