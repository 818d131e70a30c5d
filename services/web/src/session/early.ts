// Nothing can be shown before it is known who uses the page, so this is asked while the other scripts are evaluated.
import { workspaceHeaders } from '../api/workspace';

/** A link that signs in comes first; an invitation and a shared conversation need no user. */
const isNeeded = !location.hash && !['/join', '/shared'].includes(location.pathname);
let sent = isNeeded ? fetch('/v1/me', { headers: workspaceHeaders() }) : undefined;
sent?.catch(() => undefined); // whoever takes it is told

/** Returns the response to the early request, once; then sends the request. */
export function fetchMe(request: Request): Promise<Response> {
  const early = sent;
  sent = undefined;
  return early ?? fetch(request);
}
