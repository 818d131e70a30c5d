// Which language and which colours the pages have in this browser; the API does not know of it.
const LANGUAGE = 'attractor.language';
const SCHEME = 'attractor.scheme';
export const LANGUAGES = { en: 'English', de: 'Deutsch' } as const;
export const SCHEMES = { light: 'schemeLight', dark: 'schemeDark' } as const;
export type Language = keyof typeof LANGUAGES;
export type Scheme = keyof typeof SCHEMES;

/** A value that was kept, if it is still one of those that can be chosen. */
export const keptOf = <Value extends string>(values: Record<Value, unknown>, kept: string | null): Value | undefined =>
  kept !== null && Object.hasOwn(values, kept) ? (kept as Value) : undefined;

export const chosenLanguage = () => keptOf(LANGUAGES, localStorage.getItem(LANGUAGE));
export const chosenScheme = () => keptOf(SCHEMES, localStorage.getItem(SCHEME));

/** The language of the pages that are opened from now on; undefined is the browser's. */
export const keepLanguage = (language: Language | undefined) => keep(LANGUAGE, language);

/** The colours from now on; undefined are the browser's. */
export function keepScheme(scheme: Scheme | undefined): void {
  keep(SCHEME, scheme);
  showScheme();
}

export function showScheme(): void {
  document.documentElement.dataset.scheme = chosenScheme() ?? '';
}

const keep = (place: string, value: string | undefined) =>
  value === undefined ? localStorage.removeItem(place) : localStorage.setItem(place, value);
