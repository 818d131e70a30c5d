// A question that is being written. The tab's storage keeps it over a reload, and forgets it when the tab is closed.
import type { NamedDocument } from './mentions';

const key = (place: string) => `attractor.question.${place}`;
const documentsKey = (place: string) => `attractor.documents.${place}`;

export const keptQuestion = (place: string, storage: Storage = sessionStorage): string =>
  storage.getItem(key(place)) ?? '';

export const keepQuestion = (place: string, text: string, storage: Storage = sessionStorage): void =>
  keep(key(place), text, storage);

/** The documents named in the question. */
export const keptDocuments = (place: string, storage: Storage = sessionStorage): NamedDocument[] =>
  JSON.parse(storage.getItem(documentsKey(place)) ?? '[]');

export const keepDocuments = (
  place: string,
  documents: readonly NamedDocument[],
  storage: Storage = sessionStorage,
): void => keep(documentsKey(place), documents.length ? JSON.stringify(documents) : '', storage);

function keep(name: string, text: string, storage: Storage): void {
  if (text === '') storage.removeItem(name);
  else storage.setItem(name, text);
}
