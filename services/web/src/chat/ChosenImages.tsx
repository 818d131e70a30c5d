import { useEffect, useMemo } from 'react';
import { Button } from 'react-aria-components';
import { t } from '../i18n';
import style from './chat.module.css';

interface Props {
  images: readonly File[];
  /** Without it, the images are being sent. */
  onRemove: ((index: number) => void) | undefined;
}

/** The images attached to the question; each can be removed. */
export function ChosenImages({ images, onRemove }: Props) {
  const urls = useMemo(() => images.map((image) => URL.createObjectURL(image)), [images]);
  useEffect(() => () => urls.forEach(URL.revokeObjectURL), [urls]);
  if (images.length === 0) return null;
  return (
    <ul className={style.images} aria-label={t('imagesOfQuestion')}>
      {images.map(({ name }, index) => (
        <li key={urls[index]}>
          <img src={urls[index]} alt={name} />
          {onRemove && (
            <Button onPress={() => onRemove(index)} aria-label={`${t('remove')}: ${name}`}>
              ×
            </Button>
          )}
        </li>
      ))}
    </ul>
  );
}
