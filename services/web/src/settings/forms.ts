// Form fields from the JSON Schema of a setting. Pure.
import type { Key } from '../i18n';

export type Form =
  | { kind: 'text'; isLong: boolean; most: number | undefined }
  | { kind: 'number'; isWhole: boolean; least: number | undefined; most: number | undefined }
  | { kind: 'truth' }
  | { kind: 'choice'; values: string[] }
  | { kind: 'models'; most: number }
  | { kind: 'json' };

interface Schema {
  type?: string;
  enum?: unknown[];
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  maxItems?: number;
  items?: { $ref?: string };
}

const LONG = 1_000; // characters from which a text gets several lines

/** An unknown type is edited as JSON, so that every setting can be changed. */
export function formOf(schema: Record<string, unknown>): Form {
  const { type, enum: values, maxLength, minimum, maximum, maxItems, items } = schema as Schema;
  if (values?.every((value) => typeof value === 'string')) return { kind: 'choice', values: values as string[] };
  if (type === 'string') return { kind: 'text', isLong: (maxLength ?? LONG + 1) > LONG, most: maxLength };
  if (type === 'boolean') return { kind: 'truth' };
  if (type === 'integer' || type === 'number')
    return { kind: 'number', isWhole: type === 'integer', least: minimum, most: maximum };
  if (type === 'array' && items?.$ref?.endsWith('/RoleModel')) return { kind: 'models', most: maxItems ?? 1 };
  return { kind: 'json' };
}

/** Returns a field's text as a value for the API; undefined if it is empty. Throws if it is not valid JSON. */
export function parsed(form: Form, written: string): unknown {
  if (written.trim() === '') return undefined;
  if (form.kind === 'number') return Number(written);
  return form.kind === 'json' ? JSON.parse(written) : written.trim();
}

/** Returns a value as the text of a field. */
export const written = (form: Form, value: unknown): string =>
  value === null || value === undefined ? '' : form.kind === 'json' ? JSON.stringify(value, null, 2) : String(value);

/** Returns the names of a family's members, such as the providers, among the keys that are set. */
export function membersOf(family: string, keys: readonly string[]): string[] {
  const [before, after] = family.split('{name}') as [string, string];
  const found = keys.filter((key) => key.startsWith(before) && key.endsWith(after));
  return [...new Set(found.map((key) => key.slice(before.length, key.length - after.length)))].sort();
}

const NAMES: Record<string, Key> = {
  'answers.instructions': 'setInstructions',
  'answers.passages': 'setPassages',
  'answers.temperature': 'setTemperature',
  'budgets.run': 'perRun',
  'budgets.user': 'budgetUser',
  'budgets.key': 'budgetKey',
  'budgets.workspace': 'budgetWorkspace',
  'roles.router': 'roleRouter',
  'roles.answer': 'roleAnswer',
  'roles.artifact': 'roleArtifact',
  'roles.summary': 'roleSummary',
  'roles.title': 'roleTitle',
  'roles.vision': 'roleVision',
};
const CATEGORIES: Record<string, Key> = { answers: 'setAnswers', providers: 'setProviders', roles: 'setRoles' };

/** Returns the label of a setting or category; undefined for one that is newer than the page. */
export const nameOf = (key: string): Key | undefined => NAMES[key];
export const categoryOf = (category: string): Key | undefined => CATEGORIES[category];
