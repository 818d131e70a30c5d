// Uploads: the dropped files, and one upload with its progress (fetch reports none).
import type { DropItem } from 'react-aria-components';
import { Problem, type Schemas } from '../api/client';
import { workspaceHeaders } from '../api/workspace';

/** Returns the dropped files, including those in folders. */
export async function filesIn(items: Iterable<DropItem> | AsyncIterable<DropItem>): Promise<File[]> {
  const found: File[] = [];
  for await (const item of items) {
    if (item.kind === 'file') found.push(await item.getFile());
    else if (item.kind === 'directory') found.push(...(await filesIn(item.getEntries())));
  }
  return found;
}

/** Sends a file. `onShare` is called with the share sent so far, 0 to 1. Rejects with a Problem, of status 0 without a response. */
export function send(file: File, onShare: (share: number) => void): Promise<Schemas['UploadedFile'][]> {
  const form = new FormData();
  form.append('files', file);
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', '/v1/documents');
    request.responseType = 'json';
    for (const [name, value] of Object.entries(workspaceHeaders())) request.setRequestHeader(name, value);
    request.upload.onprogress = ({ loaded, total }) => onShare(loaded / Math.max(total, 1));
    request.onload = () =>
      request.status < 300
        ? resolve((request.response as Schemas['Upload']).files)
        : reject(new Problem(request.status, request.response ?? undefined));
    request.onerror = () => reject(new Problem(0, undefined));
    request.send(form);
  });
}
