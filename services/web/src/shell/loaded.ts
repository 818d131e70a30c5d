// Modules that are loaded when they are first needed.

const AGAIN_MILLISECONDS = 1000;
const RECENT_MILLISECONDS = 10_000; // a page as new as this is not reloaded: the next one could not load it either

const unstyled = new Set<HTMLLinkElement>();
globalThis.document?.addEventListener(
  'error',
  ({ target }) => target instanceof HTMLLinkElement && target.rel === 'stylesheet' && unstyled.add(target),
  true, // it does not bubble
);

/**
 * Loads a module, and once more if that fails. If an upgrade of the server is why, the page is reloaded, because the
 * server has the modules of another page then.
 */
export async function loaded<Module>(load: () => Promise<Module>): Promise<Module> {
  const attempt = async () => {
    await loadStylesAgain();
    return await load();
  };
  try {
    return await attempt();
  } catch {
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MILLISECONDS));
  }
  try {
    return await attempt();
  } catch (reason) {
    if (performance.now() < RECENT_MILLISECONDS || !(await isReplaced())) throw reason;
    location.reload();
    return new Promise(() => undefined);
  }
}

/** Requests styles that did not come; a module that is imported again does not ask for them again. */
async function loadStylesAgain() {
  const again = [...unstyled].map((link) => {
    const copy = link.cloneNode() as HTMLLinkElement;
    const came = new Promise((resolve, reject) => {
      copy.onload = resolve;
      copy.onerror = () => reject(new Error(`no style from ${copy.href}`));
    });
    unstyled.delete(link);
    link.replaceWith(copy);
    return came;
  });
  await Promise.all(again);
}

/** Whether the server no longer has the script of this page, whose name has a hash of its content. */
async function isReplaced(): Promise<boolean> {
  const { src } = document.querySelector<HTMLScriptElement>('script[type=module][src]')!;
  const answer = await fetch(src, { cache: 'no-store' }).catch(() => undefined);
  return answer?.status === 404;
}
