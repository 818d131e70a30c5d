import type { Schemas } from '../api/client';
import { type Key, t } from '../i18n';

type Role = Schemas['Role'];
export const ROLES = { viewer: 'viewer', editor: 'editor', owner: 'owner' } as const satisfies Record<Role, Key>;
const RANKED: Role[] = ['viewer', 'editor', 'owner'];

/** The roles that someone with this role may assign, weakest first. */
export const rolesUpTo = (role: Role): { value: Role; name: string }[] =>
  RANKED.slice(0, RANKED.indexOf(role) + 1).map((value) => ({ value, name: t(ROLES[value]) }));
