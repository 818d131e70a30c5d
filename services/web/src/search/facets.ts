// Values of facets in words.
import { type Key, t } from '../i18n';
import type { FACETS } from './wanted';

type Facet = (typeof FACETS)[number]['facet'];
const ORIGINS: Record<string, Key> = {
  upload: 'originUpload',
  artifact: 'artifact',
  folder: 'kindFolder',
  git: 'kindGit',
  s3: 'kindS3',
  web: 'kindWeb',
};
const TYPES: Record<string, string> = {
  'application/msword': 'Word (DOC)',
  'application/vnd.ms-excel': 'Excel (XLS)',
  'application/vnd.ms-powerpoint': 'PowerPoint (PPT)',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'Word (DOCX)',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'Excel (XLSX)',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation': 'PowerPoint (PPTX)',
  'application/pdf': 'PDF',
  'message/rfc822': 'E-Mail',
  'text/csv': 'CSV',
  'text/html': 'HTML',
  'text/markdown': 'Markdown',
};

/** Returns a value of a facet as people say it. */
export function inWords(facet: Facet, value: string): string {
  if (facet === 'media_type')
    return value === 'text/plain'
      ? t('noLanguage')
      : (TYPES[value] ?? value.slice(value.indexOf('/') + 1).replace(/^x-/, ''));
  if (facet === 'source_type') return ORIGINS[value] ? t(ORIGINS[value]) : value;
  return facet === 'language' ? languageName(value) : value;
}

function languageName(code: string): string {
  try {
    return new Intl.DisplayNames(document.documentElement.lang, { type: 'language' }).of(code) ?? code;
  } catch {
    return code; // not a code of a language
  }
}
