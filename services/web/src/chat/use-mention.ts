import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type KeyboardEvent, type RefObject, useDeferredValue, useState } from 'react';
import { api, body, type Schemas } from '../api/client';
import { type Mention, mentionAt, type NamedDocument, without } from './mentions';

const OFFERED = 8;
type Document = Schemas['Document'];

export interface Offer {
  documents: Document[];
  /** The place of the one that Enter chooses. */
  active: number;
  isEmpty: boolean;
  choose: (document: Document) => void;
}

/** The documents offered for an @ in the text field; undefined while none is being typed. */
export function useMention(
  field: RefObject<HTMLTextAreaElement | null>,
  onChoose: (document: NamedDocument, text: string) => void,
) {
  const [mention, setMention] = useState<Mention>();
  const [active, setActive] = useState(0);
  const [closedAt, setClosedAt] = useState<number>(); // Escape was pressed for the @ here
  const words = useDeferredValue(mention?.words);
  const { data } = useQuery({
    queryKey: ['documents', 'named', words],
    enabled: words !== undefined,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => {
      const query = { limit: OFFERED, status: 'searchable' as const, ...(words && { name: words }) };
      return body(api.GET('/v1/documents', { params: { query }, signal }));
    },
  });
  const documents = data?.items ?? [];

  /** Looks for an @ before the caret; the browser may tell of a selection in a field that has just gone. */
  const look = ({ value, selectionStart, selectionEnd }: HTMLTextAreaElement) => {
    const found = selectionStart === selectionEnd ? mentionAt(value, selectionStart) : undefined;
    if (found?.from !== closedAt) setClosedAt(undefined);
    const shown = found?.from === closedAt ? undefined : found;
    if (shown?.words !== mention?.words || shown?.from !== mention?.from) {
      setMention(shown);
      setActive(0);
    }
  };
  const choose = ({ id, name, title }: Document) => {
    const text = field.current!;
    text.value = without(text.value, mention!);
    text.setSelectionRange(mention!.from, mention!.from);
    text.focus();
    setMention(undefined);
    onChoose({ id, name: title ?? name }, text.value);
  };
  /** Handles a key of the list; returns whether it was one. */
  const onKey = ({ key, shiftKey }: KeyboardEvent): boolean => {
    const count = documents.length;
    if (!mention || shiftKey) return false;
    if (key === 'Escape') {
      setClosedAt(mention.from);
      setMention(undefined);
      return true;
    }
    const by = key === 'ArrowDown' ? 1 : key === 'ArrowUp' ? -1 : 0;
    if (count === 0 || (!by && key !== 'Enter' && key !== 'Tab')) return false;
    if (by) setActive((active + by + count) % count);
    else choose(documents[active]!);
    return true;
  };
  const offer: Offer | undefined = mention && { documents, active, isEmpty: data?.items.length === 0, choose };
  return { offer, look, close: () => setMention(undefined), onKey };
}
