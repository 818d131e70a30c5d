// The workspace that a person with several has chosen; a key and a person with one need no choice.
const PLACE = 'attractor.workspace';

export const chosenWorkspace = (): string | null => localStorage.getItem(PLACE);

export const chooseWorkspace = (id: string | null): void =>
  id === null ? localStorage.removeItem(PLACE) : localStorage.setItem(PLACE, id);

/** The header that names the workspace, for requests that the typed client does not make. */
export function workspaceHeaders(): Record<string, string> {
  const id = chosenWorkspace();
  return id === null ? {} : { 'x-workspace-id': id };
}
