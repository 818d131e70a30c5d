// Languages with syntax highlighting; each is loaded when first needed, and any other one is plain text.
import type { Extension } from '@codemirror/state';
import { loaded } from '../shell/loaded';

const script = async (typescript: boolean) => (await import('@codemirror/lang-javascript')).javascript({ typescript });

const LOADERS: Record<string, () => Promise<Extension>> = {
  python: async () => (await import('@codemirror/lang-python')).python(),
  javascript: () => script(false),
  typescript: () => script(true),
};

export function loadLanguage(name: string | null | undefined): Promise<Extension> | undefined {
  const load = LOADERS[name?.toLowerCase() ?? ''];
  return load && loaded(load);
}
