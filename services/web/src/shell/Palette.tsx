import {
  Autocomplete,
  Dialog,
  Input,
  Label,
  Menu,
  MenuItem,
  Modal,
  SearchField,
  useFilter,
} from 'react-aria-components';
import { useLocation } from 'wouter';
import { partsFor } from '../admin/parts';
import type { Schemas } from '../api/client';
import { t } from '../i18n';
import { keyOf, useSessions } from '../session/use-sessions';
import style from './dialogs.module.css';
import { PAGES } from './pages';
import { useHidden } from './use-deletions';

interface Props {
  role: Schemas['Role'];
  onClose: () => void;
  onKeys: () => void;
  onSignOut: () => void;
}

interface Command {
  id: string;
  name: string;
  act: () => void;
}

/** Finds pages, recent conversations and global commands by a part of their name. */
export default function Palette({ role, onClose, onKeys, onSignOut }: Props) {
  const [, go] = useLocation();
  const { contains } = useFilter({ sensitivity: 'base' });
  const hidden = useHidden();
  const { data } = useSessions();
  const page = (href: string, name: string): Command => ({ id: href, name, act: () => go(href) });
  const administration = partsFor(role).filter(({ href }) => href !== '/admin');
  const commands: Command[] = [
    page('/', t('newSession')),
    ...PAGES.map(({ href, name }) => page(href, t(name))),
    page('/memory/world', t('worldState')),
    page('/documents/sources', t('watchedSources')),
    ...administration.map(({ href, name }) => page(href, `${t('admin')}: ${t(name)}`)),
    ...(data?.pages ?? [])
      .flatMap(({ items }) => items)
      .filter(({ id }) => !hidden.has(keyOf(id)))
      .map(({ id, title }) => page(`/c/${id}`, `${t('conversation')}: ${title ?? t('untitled')}`)),
    { id: 'keys', name: t('keyList'), act: onKeys },
    { id: 'sign-out', name: t('signOut'), act: onSignOut },
  ];
  const run = (id: string) => {
    onClose();
    commands.find((command) => command.id === id)?.act();
  };
  return (
    <Modal isOpen isDismissable className={`${style.modal} ${style.palette}`} onOpenChange={onClose}>
      <Dialog className={style.dialog!} aria-label={t('commands')}>
        <Autocomplete filter={contains}>
          <SearchField autoFocus className={style.wanted!}>
            <Label className="hidden">{t('commandSearch')}</Label>
            <Input placeholder={t('commandSearch')} maxLength={200} />
          </SearchField>
          <Menu
            className={style.commands!}
            aria-label={t('commands')}
            items={commands}
            onAction={(key) => run(String(key))}
            renderEmptyState={() => t('nothingFound')}
          >
            {({ id, name }) => (
              <MenuItem id={id} textValue={name}>
                {name}
              </MenuItem>
            )}
          </Menu>
        </Autocomplete>
      </Dialog>
    </Modal>
  );
}
