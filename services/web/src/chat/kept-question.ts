// A question that is being written. The tab's storage keeps it over a reload, and forgets it when the tab is closed.

const key = (place: string) => `attractor.question.${place}`;

export const keptQuestion = (place: string, storage: Storage = sessionStorage): string =>
  storage.getItem(key(place)) ?? '';

export function keepQuestion(place: string, text: string, storage: Storage = sessionStorage): void {
  if (text === '') storage.removeItem(key(place));
  else storage.setItem(key(place), text);
}
