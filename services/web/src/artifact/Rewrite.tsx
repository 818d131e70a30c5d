import { Button, Header, Menu, MenuItem, MenuSection, MenuTrigger, Popover } from 'react-aria-components';
import { useQuickActions } from '../api/use-quick-actions';
import { t } from '../i18n';
import style from './artifact.module.css';
import { offers, type Wish } from './wishes';

interface Props {
  isCode: boolean;
  isDisabled: boolean;
  onAsk: (content: string, wish: Wish) => void;
}

/** Quick actions and themes, which rewrite the whole artifact. */
export function Rewrite({ isCode, isDisabled, onAsk }: Props) {
  const { data = [] } = useQuickActions();
  const groups = offers(
    isCode,
    data.filter((action) => action.target === 'artifact'),
    document.documentElement.lang,
  );
  const choose = (key: string | number) => {
    const offer = groups.flatMap((group) => group.offers).find(({ id }) => id === key);
    if (offer) onAsk(offer.content, offer.wish);
  };
  return (
    <MenuTrigger>
      <Button isDisabled={isDisabled}>{t('rewrite')}</Button>
      <Popover className={style.popover!}>
        <Menu className={style.menu!} onAction={choose}>
          {groups.map(({ name, offers }) => (
            <MenuSection key={name}>
              <Header>{name}</Header>
              {offers.map((offer) => (
                <MenuItem key={offer.id} id={offer.id}>
                  {offer.name}
                </MenuItem>
              ))}
            </MenuSection>
          ))}
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}
