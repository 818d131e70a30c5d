import { readdirSync, readFileSync } from 'node:fs';

const REPOSITORY = new URL('../../../../', import.meta.url);

/** Returns a file of the repository. */
export const read = (name: string) => readFileSync(new URL(name, REPOSITORY), 'utf8');

/** Returns the Python below a folder, with strings that go on in the next line joined. */
export const python = (folder: string): string =>
  readdirSync(new URL(folder, REPOSITORY), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.py'))
    .map((name) => read(`${folder}/${name}`))
    .join('\n')
    .replace(/["']\n +f?["']/g, '');
