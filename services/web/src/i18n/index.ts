// Strings in one place. English is the fallback; a language is one file, loaded when it is chosen.
import { loaded } from '../shell/loaded';
import { en } from './en';
import { type Sentence, translated } from './sentences';

export type Messages = typeof en;
export type Key = keyof Messages;
let messages: Messages = en;
let server = new Map<string, string>();
let sentences: readonly Sentence[] = [];

/** Returns the text of a key with its {names} replaced; of {name|one|other} the form for the number of that name. */
export function t(key: Key, values: Record<string, string | number> = {}): string {
  return messages[key].replace(
    /\{(\w+)(?:\|([^|}]*)\|([^|}]*))?\}/g,
    (_, name: string, one?: string, other?: string) => {
      const value = String(values[name] ?? '');
      return (value === '1' ? one : other) ?? value;
    },
  );
}

export const isEnglish = () => messages === en;

/** Returns what the API says in English, in the chosen language if the page knows it by its type or name. */
export const told = (name: string, text: string): string => server.get(name) ?? text;

/** Returns a sentence of the API in the chosen language if the page knows it. */
export const worded = (text: string): string => translated(text, sentences);

/** Returns a reason in the chosen language: by its sentence, or by its type, then in the API's words. */
export function explained(type: string | null | undefined, text: string): string {
  const known = server.get(type ?? '');
  const own = worded(text);
  return known && own === text ? `${known} (${text})` : own;
}

export async function chooseLanguage(language: string): Promise<void> {
  // A page in English rather than none, if the other language cannot be loaded
  const german = language.startsWith('de') ? await loaded(() => import('./de')).catch(() => undefined) : undefined;
  messages = german?.de ?? en;
  server = new Map(Object.entries(german?.server ?? {}));
  sentences = german?.sentences ?? [];
  document.documentElement.lang = german ? 'de' : 'en';
}

/** Formats a size with the units and digits of the language. */
export function size(bytes: number): string {
  const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const;
  const step = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), units.length - 1);
  const unitDisplay = step === 0 ? 'long' : 'short'; // short, several bytes are “byte” in English
  const style = { style: 'unit', unit: units[step]!, unitDisplay, maximumFractionDigits: 1 } as const;
  return new Intl.NumberFormat(document.documentElement.lang, style).format(bytes / 1000 ** step);
}

/** Formats date and time for the language. */
export const when = (iso: string) =>
  new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: 'medium', timeStyle: 'short' }).format(
    new Date(iso),
  );

/** Formats a date for the language. */
export const day = (iso: string) =>
  new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: 'medium' }).format(new Date(iso));

/** Formats a number with at most this many decimals. */
export const number = (value: number, digits = 0) =>
  new Intl.NumberFormat(document.documentElement.lang, { maximumFractionDigits: digits }).format(value);
