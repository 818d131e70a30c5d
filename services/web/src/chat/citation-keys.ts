import type { KeyboardEvent } from 'react';

const STEPS: Record<string, 1 | -1> = { ']': 1, '[': -1 };

/** Moves the focus among the citations of the conversation: `]` to the next or first of the newest answer, `[` back. */
export function onCitationKey(event: KeyboardEvent<HTMLElement>): void {
  const by = STEPS[event.key];
  if (!by || event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement) return;
  const chips = [...event.currentTarget.querySelectorAll<HTMLElement>('[data-citation]')];
  const at = chips.indexOf(document.activeElement as HTMLElement);
  const newest = event.currentTarget.querySelector('article:last-of-type [data-citation]');
  const target = at < 0 ? chips.indexOf(newest as HTMLElement) : at + by;
  chips[target]?.focus();
}
