// Language and colours of the pages in this browser; the API does not store them.
const LANGUAGE = 'attractor.language';
const SCHEME = 'attractor.scheme';
export const LANGUAGES = { en: 'English', de: 'Deutsch' } as const;
export const SCHEMES = { light: 'schemeLight', dark: 'schemeDark' } as const;
export type Language = keyof typeof LANGUAGES;
export type Scheme = keyof typeof SCHEMES;

/** The stored value, if it is still a valid choice. */
export const keptOf = <Value extends string>(values: Record<Value, unknown>, kept: string | null): Value | undefined =>
  kept !== null && Object.hasOwn(values, kept) ? (kept as Value) : undefined;

export const chosenLanguage = () => keptOf(LANGUAGES, localStorage.getItem(LANGUAGE));
export const chosenScheme = () => keptOf(SCHEMES, localStorage.getItem(SCHEME));

/** Sets the language of pages opened from now on; undefined is the browser's. */
export const keepLanguage = (language: Language | undefined) => keep(LANGUAGE, language);

/** Sets the colours from now on; undefined is the browser's. */
export function keepScheme(scheme: Scheme | undefined): void {
  keep(SCHEME, scheme);
  showScheme();
}

export function showScheme(): void {
  document.documentElement.dataset.scheme = chosenScheme() ?? '';
}

const keep = (place: string, value: string | undefined) =>
  value === undefined ? localStorage.removeItem(place) : localStorage.setItem(place, value);
