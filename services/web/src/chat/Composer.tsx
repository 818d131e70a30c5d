import {
  type ClipboardEvent,
  type DragEvent,
  type FormEvent,
  type KeyboardEvent,
  useEffect,
  useId,
  useRef,
  useState,
} from 'react';
import { Button } from 'react-aria-components';
import { useModel } from '../api/use-model';
import { t } from '../i18n';
import { ChosenImages } from './ChosenImages';
import style from './chat.module.css';
import { ACCEPTED, chosen } from './images';
import { keepDocuments, keepQuestion, keptDocuments, keptQuestion } from './kept-question';
import { type NamedDocument, withDocument } from './mentions';
import { NamedDocuments } from './NamedDocuments';
import { OfferedDocuments } from './OfferedDocuments';
import { useMention } from './use-mention';

interface Props {
  /** Names the draft, which a reload of the tab keeps. */
  place: string;
  running: boolean;
  /** Rejects with the error to show; the text is then kept. */
  onAsk: (content: string, images: File[], documentIds: string[]) => Promise<void> | void;
  onStop: () => void;
}

/**
 * Enter sends, Shift+Enter breaks the line, except while an input method is composing. Takes images, too. An @ offers
 * documents; the answer draws only on those that are chosen.
 */
export function Composer({ place, running, onAsk, onStop }: Props) {
  const field = useRef<HTMLTextAreaElement>(null);
  const files = useRef<HTMLInputElement>(null);
  const list = useId();
  const [images, setImages] = useState<File[]>([]);
  const [documents, setDocuments] = useState(() => keptDocuments(place));
  const [told, setTold] = useState<string[]>([]);
  const [sending, setSending] = useState(false);
  const [isOver, setIsOver] = useState(false);
  const hasModel = useModel();
  const name = (chosen: NamedDocument[]) => {
    setDocuments(chosen);
    keepDocuments(place, chosen);
  };
  const { offer, look, close, onKey } = useMention(field, (document, text) => {
    keepQuestion(place, text);
    name(withDocument(documents, document));
  });
  useEffect(() => field.current!.focus(), []);
  const add = (added: File[]) => {
    if (hasModel === false) return setTold([t('noImagesWithoutModel')]);
    const { taken, refused } = chosen(images.length, added);
    setImages([...images, ...taken]);
    setTold(refused);
  };
  const remove = (index: number) => {
    setImages(images.filter((_, at) => at !== index));
    setTold([]);
    field.current!.focus();
  };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const content = field.current!.value.trim();
    if (running || sending) return;
    if (!content) return setTold(images.length ? [t('imagesNeedWords')] : []);
    setSending(true);
    setTold([]);
    field.current!.value = '';
    keepQuestion(place, '');
    close();
    try {
      await onAsk(
        content,
        images,
        documents.map(({ id }) => id),
      );
      setImages([]);
      name([]);
    } catch (problem) {
      const typed = field.current?.value; // none when the page was left meanwhile
      if (field.current && !typed) field.current.value = content;
      keepQuestion(place, typed || content);
      setTold([(problem as Error).message]);
    } finally {
      setSending(false);
    }
  };
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    const composing = event.nativeEvent.isComposing || event.keyCode === 229; // Safari ends it before the key event
    if (composing) return;
    if (onKey(event)) event.preventDefault();
    else if (event.key === 'Enter' && !event.shiftKey) void submit(event);
  };
  const onPaste = (event: ClipboardEvent) => {
    const pasted = [...event.clipboardData.files];
    if (pasted.length === 0) return;
    event.preventDefault();
    add(pasted);
  };
  const onDragOver = (event: DragEvent) => {
    if (!event.dataTransfer.types.includes('Files')) return;
    event.preventDefault();
    setIsOver(true);
  };
  const onDrop = (event: DragEvent) => {
    event.preventDefault();
    setIsOver(false);
    add([...event.dataTransfer.files]);
  };
  return (
    <form
      className={style.composer}
      data-over={isOver}
      onSubmit={submit}
      onPaste={onPaste}
      onDragOver={onDragOver}
      onDragLeave={() => setIsOver(false)}
      onDrop={onDrop}
    >
      <ChosenImages images={images} onRemove={sending ? undefined : remove} />
      <NamedDocuments
        documents={documents}
        onRemove={(id) => {
          name(documents.filter((each) => each.id !== id));
          field.current!.focus();
        }}
      />
      <p role="alert">{told.join(' ')}</p>
      <OfferedDocuments id={list} offer={offer} />
      {hasModel && (
        <>
          <input
            ref={files}
            type="file"
            hidden
            accept={ACCEPTED}
            multiple
            onChange={({ target }) => {
              add([...(target.files ?? [])]);
              target.value = ''; // so that the same file can be chosen again
            }}
          />
          <Button className={style.clip!} aria-label={t('addImage')} onPress={() => files.current!.click()}>
            <Clip />
          </Button>
        </>
      )}
      <textarea
        ref={field}
        rows={1}
        maxLength={10_000}
        defaultValue={keptQuestion(place)}
        onChange={({ target }) => {
          keepQuestion(place, target.value);
          look(target);
        }}
        onSelect={({ currentTarget }) => look(currentTarget)}
        onBlur={close}
        placeholder={t('askHint')}
        aria-label={t('askLabel')}
        aria-autocomplete="list"
        aria-controls={offer?.documents.length ? list : undefined}
        aria-activedescendant={offer?.documents.length ? `${list}-${offer.active}` : undefined}
        onKeyDown={onKeyDown}
      />
      {running ? (
        <Button onPress={onStop}>{t('stop')}</Button>
      ) : (
        <Button type="submit" isDisabled={sending}>
          {t(sending && images.length > 0 ? 'sendingImages' : 'send')}
        </Button>
      )}
    </form>
  );
}

const Clip = () => (
  <svg viewBox="0 0 24 24" width="18" height="18" fill="none" stroke="currentColor" strokeWidth="2" aria-hidden>
    <path
      strokeLinecap="round"
      d="M20 11l-8.500 8.500a5 5 0 0 1-7-7L13 4a3.400 3.400 0 0 1 4.800 4.800l-8.300 8.300a1.700 1.700 0 0 1-2.400-2.400L14.500 7.500"
    />
  </svg>
);
