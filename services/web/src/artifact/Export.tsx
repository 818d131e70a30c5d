import { useMutation } from '@tanstack/react-query';
import { Button, Menu, MenuItem, MenuTrigger, Popover } from 'react-aria-components';
import type { Schemas } from '../api/client';
import { saveFile } from '../api/save';
import { type Key, t } from '../i18n';
import style from './artifact.module.css';
import type { Artifact } from './artifacts';

type Format = Schemas['ArtifactFormat'];
const NAMES = {
  markdown: 'formatMarkdown',
  html: 'formatHtml',
  docx: 'formatDocx',
  pdf: 'formatPdf',
  source: 'formatSource',
} as const satisfies Record<Format, Key>;

const FORMATS = Object.keys(NAMES) as Format[];

interface Props {
  sessionId: string;
  /** Saves the current text, and returns its version; undefined if that failed. */
  onLatest: () => Promise<Artifact | undefined>;
}

/** The current version as a file. */
export function Export({ sessionId, onLatest }: Props) {
  const save = useMutation({
    mutationFn: async (format: Format) => {
      const latest = await onLatest();
      if (!latest) return;
      const path = `/v1/sessions/${sessionId}/artifact/export?format=${format}&index=${latest.index}`;
      await saveFile(path);
    },
  });
  return (
    <>
      <MenuTrigger>
        <Button isDisabled={save.isPending}>{t('export')}</Button>
        <Popover className={style.popover!}>
          <Menu className={style.menu!} onAction={(format) => save.mutate(format as Format)}>
            {FORMATS.map((format) => (
              <MenuItem key={format} id={format}>
                {t(NAMES[format])}
              </MenuItem>
            ))}
          </Menu>
        </Popover>
      </MenuTrigger>
      {save.error && <span role="alert">{save.error.message}</span>}
    </>
  );
}
