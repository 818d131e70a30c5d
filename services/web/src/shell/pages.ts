import type { Key } from '../i18n';

/** The pages of the menu, in order. */
export const PAGES = [
  { href: '/search', name: 'search' },
  { href: '/graph', name: 'graph' },
  { href: '/memory', name: 'memory' },
  { href: '/documents', name: 'documents' },
  { href: '/admin', name: 'admin' },
] as const satisfies { href: string; name: Key }[];
