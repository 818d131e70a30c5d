// Who may do what with a quick action, and what is sent of its form. Pure.
import type { Schemas } from '../api/client';

type QuickAction = Schemas['QuickAction'];

/** Whether the role may make quick actions for all members; everybody makes own ones. */
export const mayShare = (role: Schemas['Role']): boolean => role !== 'viewer';

/** Whether the role may change and delete it: one that all members use asks for more than an own one. */
export const mayWrite = (role: Schemas['Role'], action: Pick<QuickAction, 'shared'>): boolean =>
  !action.shared || mayShare(role);

/** What the form says; a field that is not ticked is not in it. */
export const writtenIn = (
  form: FormData,
): Pick<QuickAction, 'name' | 'prompt' | 'use_history' | 'use_preferences'> => ({
  name: String(form.get('name') ?? '').trim(),
  prompt: String(form.get('prompt') ?? '').trim(),
  use_history: form.has('use_history'),
  use_preferences: form.has('use_preferences'),
});
