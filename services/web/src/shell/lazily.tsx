import { Component, type ComponentType, lazy, type ReactNode, useEffect, useState } from 'react';
import { Button } from 'react-aria-components';
import { t } from '../i18n';
import style from './lazily.module.css';
import { loaded } from './loaded';

type Place = 'main' | 'aside' | 'div';

class NotLoaded extends Error {}

/** A component that is loaded when it is first shown. If it cannot be, it says so there, and can be tried again. */
export function lazily<Props extends object>(
  load: () => Promise<{ default: ComponentType<Props> }>,
  place: Place = 'div',
): ComponentType<Props> {
  const made = () =>
    lazy(() =>
      loaded(load).catch((cause) => {
        throw new NotLoaded('a part of the page could not be loaded', { cause });
      }),
    ) as unknown as ComponentType<Props>;
  let Part = made();
  return function Lazy(props: Props) {
    const [tries, setTries] = useState(0);
    const Shown = Part;
    const renew = () => {
      if (Part === Shown) Part = made(); // the old one keeps its failure
    };
    const again = () => {
      renew();
      setTries(tries + 1);
    };
    const { onClose } = props as { onClose?: () => void };
    return (
      <Boundary key={tries} place={place} onAgain={again} onLeave={renew} onClose={onClose}>
        <Shown {...props} />
        {tries > 0 && <Focused place={place} />}
      </Boundary>
    );
  };
}

interface FailedProps {
  place: Place;
  onAgain: () => void;
  onLeave: () => void;
  onClose: (() => void) | undefined;
}

class Boundary extends Component<FailedProps & { children: ReactNode }, { error?: Error }> {
  override state: { error?: Error } = {};
  static getDerivedStateFromError = (error: Error) => ({ error });

  override render() {
    const { error } = this.state;
    if (error && !(error instanceof NotLoaded)) throw error;
    return error ? <Failed {...this.props} /> : this.props.children;
  }
}

function Failed({ place: Element, onAgain, onLeave, onClose }: FailedProps) {
  const Title = Element === 'main' ? 'h1' : 'h2';
  // biome-ignore lint/correctness/useExhaustiveDependencies: they do the same in every rendering
  useEffect(() => {
    addEventListener('online', onAgain);
    return () => {
      removeEventListener('online', onAgain);
      onLeave();
    };
  }, []);
  return (
    <Element className={style.failed}>
      <div role="alert">
        <Title>{t('notLoaded')}</Title>
        <p>{t('notLoadedHint')}</p>
      </div>
      <div className={style.actions}>
        <Button onPress={onAgain}>{t('loadAgain')}</Button>
        <Button onPress={() => location.reload()}>{t('reloadPage')}</Button>
        {onClose && <Button onPress={onClose}>{t('close')}</Button>}
      </div>
    </Element>
  );
}

/** Gives the focus, which the button had, to the heading of what has come. */
function Focused({ place }: { place: Place }) {
  useEffect(() => {
    const heading = document.querySelector<HTMLElement>(`${place} :is(h1, h2)`);
    if (document.activeElement !== document.body || !heading) return;
    heading.tabIndex = -1;
    heading.focus();
  }, [place]);
  return null;
}
