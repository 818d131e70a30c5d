// Saves what the API exports as a file. A plain link could not name the workspace.
import { Problem } from './client';
import { workspaceHeaders } from './workspace';

/** Saves the response of a path, under the API's or a given name; throws a refusal as a Problem. */
export async function saveFile(path: string, name?: string): Promise<void> {
  const response = await fetch(path, { headers: workspaceHeaders() });
  if (!response.ok) throw await Problem.of(response);
  const url = URL.createObjectURL(await response.blob());
  const link = document.createElement('a');
  link.href = url;
  link.download = name ?? givenName(response.headers.get('content-disposition'));
  link.click();
  URL.revokeObjectURL(url);
}

/** The name of a file without its folders or archive. */
export const lastPart = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/** The name in a Content-Disposition, empty if there is none. */
export const givenName = (disposition: string | null): string =>
  /filename="([^"]*)"/.exec(disposition ?? '')?.[1] ?? '';
