// The workspace chosen by a user with several; a key, or a user with only one, needs no choice.
const PLACE = 'attractor.workspace';

export const chosenWorkspace = (): string | null => localStorage.getItem(PLACE);

export const chooseWorkspace = (id: string | null): void =>
  id === null ? localStorage.removeItem(PLACE) : localStorage.setItem(PLACE, id);

/** The header that names the workspace, for requests outside the typed client. */
export function workspaceHeaders(): Record<string, string> {
  const id = chosenWorkspace();
  return id === null ? {} : { 'x-workspace-id': id };
}
