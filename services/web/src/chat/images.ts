// Images in a question: which are accepted, and how they are sent.
import { Problem, type Schemas } from '../api/client';
import { workspaceHeaders } from '../api/workspace';
import { size, t } from '../i18n';

const TYPES = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'];
export const ACCEPTED = TYPES.join();
export const MOST_IMAGES = 10;
const MOST_BYTES = 20 * 2 ** 20;

/** Returns those of the added files that the API accepts, and a sentence for each kind that it refuses. */
export function chosen(before: number, files: readonly File[]): { taken: File[]; refused: string[] } {
  const refused: string[] = [];
  const fit = files.filter((file) => {
    const why = !TYPES.includes(file.type)
      ? t('notAnImage', { name: file.name })
      : file.size > MOST_BYTES
        ? t('imageTooLarge', { name: file.name, size: size(MOST_BYTES) })
        : undefined;
    if (why) refused.push(why);
    return !why;
  });
  const taken = fit.slice(0, Math.max(MOST_IMAGES - before, 0));
  if (taken.length < fit.length) refused.push(t('tooManyImages', { most: MOST_IMAGES }));
  return { taken, refused };
}

/** Sends images to a session, in order; returns their ids. Rejects with a Problem. */
export async function sendImages(sessionId: string, images: readonly File[]): Promise<string[]> {
  const ids: string[] = [];
  for (const image of images) {
    const name = encodeURIComponent(image.name.slice(0, 255) || 'image');
    const response = await fetch(`/v1/sessions/${sessionId}/attachments?name=${name}`, {
      method: 'POST',
      headers: { ...workspaceHeaders(), 'content-type': image.type },
      body: image,
    });
    if (!response.ok) throw await Problem.of(response);
    ids.push(((await response.json()) as Schemas['ImageAttachment']).id);
  }
  return ids;
}
