import type { Schemas } from '../api/client';
import type { Key } from '../i18n';

const PARTS = [
  { href: '/admin', name: 'status', owners: false },
  { href: '/admin/runs', name: 'runs', owners: false },
  { href: '/admin/usage', name: 'usage', owners: false },
  { href: '/admin/settings', name: 'settings', owners: false },
  { href: '/admin/presets', name: 'presets', owners: false },
  { href: '/admin/quick-actions', name: 'quickActions', owners: false },
  { href: '/admin/keys', name: 'keys', owners: false },
  { href: '/admin/people', name: 'people', owners: true },
  { href: '/admin/limits', name: 'limits', owners: true },
  { href: '/admin/audit', name: 'audit', owners: true },
] as const satisfies { href: string; name: Key; owners: boolean }[];

export type PartName = (typeof PARTS)[number]['name'];

/** The parts of the administration that a role may use; some are only for owners. */
export const partsFor = (role: Schemas['Role']) => PARTS.filter(({ owners }) => !owners || role === 'owner');
