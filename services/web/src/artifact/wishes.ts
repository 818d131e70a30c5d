// Changes of the artifact that a message can request. Pure.
import type { Schemas } from '../api/client';
import { t } from '../i18n';

/** What a message requests in addition to its words. */
export type Wish = Pick<Schemas['MessageCreate'], 'highlight' | 'theme' | 'quick_action'>;
export interface Offer {
  id: string;
  name: string;
  /** The text of the message. */
  content: string;
  wish: Wish;
}
export interface Group {
  name: string;
  offers: Offer[];
}

const LANGUAGES: Record<Schemas['ThemeLanguage'], string> = {
  arabic: 'ar',
  chinese: 'zh',
  dutch: 'nl',
  english: 'en',
  french: 'fr',
  german: 'de',
  hindi: 'hi',
  italian: 'it',
  japanese: 'ja',
  polish: 'pl',
  portuguese: 'pt',
  spanish: 'es',
  turkish: 'tr',
  ukrainian: 'uk',
};
export const PROGRAMMING: Record<Schemas['ThemeProgrammingLanguage'], string> = {
  c: 'C',
  cpp: 'C++',
  csharp: 'C#',
  go: 'Go',
  html: 'HTML',
  java: 'Java',
  javascript: 'JavaScript',
  kotlin: 'Kotlin',
  php: 'PHP',
  python: 'Python',
  ruby: 'Ruby',
  rust: 'Rust',
  sql: 'SQL',
  typescript: 'TypeScript',
};

/** Returns the changes offered for a text or for code: the workspace's quick actions, then the themes. */
export function offers(isCode: boolean, actions: readonly Schemas['QuickAction'][], locale: string): Group[] {
  const quick = actions.map(({ id, name }) => ({ id, name, content: name, wish: { quick_action: id } }));
  const groups = [{ name: t('quickActions'), offers: quick }, ...(isCode ? ofCode() : ofText(locale))];
  return groups.filter((group) => group.offers.length > 0);
}

function ofText(locale: string): Group[] {
  const names = new Intl.DisplayNames(locale, { type: 'language' });
  const lengths = {
    shortest: 'lengthShortest',
    short: 'lengthShort',
    long: 'lengthLong',
    longest: 'lengthLongest',
  } as const;
  const levels = {
    child: 'levelChild',
    teenager: 'levelTeenager',
    college: 'levelCollege',
    expert: 'levelExpert',
    pirate: 'levelPirate',
  } as const;
  return [
    group('artifactLength', (value) => ({ artifact_length: value }), entries(lengths, t)),
    group('readingLevel', (value) => ({ reading_level: value }), entries(levels, t)),
    group('emojis', () => ({ regenerate_with_emojis: true }), [['emojis', t('withEmojis')]]),
    group(
      'language',
      (value) => ({ language: value }),
      entries(LANGUAGES, (code) => names.of(code) ?? code),
    ),
  ];
}

function ofCode(): Group[] {
  const improvements = { add_comments: 'addComments', add_logs: 'addLogs', fix_bugs: 'fixBugs' } as const;
  return [
    group('improve', (value) => ({ [value]: true }), entries(improvements, t)),
    group(
      'port',
      (value) => ({ port_language: value }),
      entries(PROGRAMMING, (name) => name),
    ),
  ];
}

function group<Value extends string>(
  title: 'artifactLength' | 'readingLevel' | 'emojis' | 'language' | 'improve' | 'port',
  theme: (value: Value) => Schemas['ArtifactTheme'],
  values: [Value, string][],
): Group {
  const name = t(title);
  const offers = values.map(([value, label]) => ({
    id: `${title}.${value}`,
    name: label,
    content: `${name}: ${label}`,
    wish: { theme: theme(value) },
  }));
  return { name, offers };
}

const entries = <Value extends string, Named>(named: Record<Value, Named>, name: (key: Named) => string) =>
  (Object.entries(named) as [Value, Named][]).map(([value, key]): [Value, string] => [value, name(key)]);
