import { afterAll, expect, test, vi } from 'vitest';
import { chooseLanguage, size, t } from '../../src/i18n';
import { de } from '../../src/i18n/de';
import { en } from '../../src/i18n/en';

vi.stubGlobal('document', { documentElement: { lang: 'en' } });
afterAll(() => chooseLanguage('en'));

test('one is told in the singular, anything else in the plural, in German, too', async () => {
  expect(t('checked', { kept: 1, removed: 0 })).toBe('1 citation checked, 0 rejected');
  expect(t('checked', { kept: 0, removed: 1 })).toBe('0 citations checked, 1 rejected');
  expect(t('passagesFound', { count: '1,000', milliseconds: '3' })).toBe('1,000 passages in 3 ms.');
  expect([size(1), size(39), size(12_100)]).toEqual(['1 byte', '39 bytes', '12.1 kB']);
  await chooseLanguage('de');
  expect(t('doubts', { count: 1, all: 3 })).toBe('1 von 3 Sätzen wird von seinen Quellen nicht bestätigt');
  expect(t('doubts', { count: 1, all: 1 })).toBe('1 von 1 Satz wird von seinen Quellen nicht bestätigt');
});

test('both languages use the same values', () => {
  const names = (text: string) => [...new Set([...text.matchAll(/\{(\w+)/g)].map(([, name]) => name))].sort();
  for (const key of Object.keys(en) as (keyof typeof en)[])
    expect([key, names(de[key])]).toEqual([key, names(en[key])]);
});
