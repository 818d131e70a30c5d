// Permissions for quick actions, and the request built from their form. Pure.
import type { Schemas } from '../api/client';

type QuickAction = Schemas['QuickAction'];

/** Returns whether the role may create quick actions for all members; everybody may create their own. */
export const mayShare = (role: Schemas['Role']): boolean => role !== 'viewer';

/** Returns whether the role may change and delete it; one for all members needs a higher role. */
export const mayWrite = (role: Schemas['Role'], action: Pick<QuickAction, 'shared'>): boolean =>
  !action.shared || mayShare(role);

/** Returns the form's content; unticked fields are not in it. */
export const writtenIn = (
  form: FormData,
): Pick<QuickAction, 'name' | 'prompt' | 'use_history' | 'use_preferences'> => ({
  name: String(form.get('name') ?? '').trim(),
  prompt: String(form.get('prompt') ?? '').trim(),
  use_history: form.has('use_history'),
  use_preferences: form.has('use_preferences'),
});
