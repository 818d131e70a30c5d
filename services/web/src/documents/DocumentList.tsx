import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useState } from 'react';
import { api, body } from '../api/client';
import { Windowed } from '../shell/Windowed';
import { DocumentRow } from './DocumentRow';
import style from './documents.module.css';
import { isMoving, type Status } from './states';

export interface Wanted {
  name?: string;
  status?: Status;
}

interface Props {
  wanted: Wanted;
  mayChange: boolean;
}

const WATCHED_MILLISECONDS = 2000;
const A_PAGE = 100; // documents that one request gets
const A_GROUP = 20; // rows that appear and vanish together
const ROW_HEIGHT = 90; // pixels, until it is known

/** A page of the wanted documents, after this cursor; it is reloaded while one of its documents is in progress. */
export const pageOf = (wanted: Wanted, start?: string) =>
  queryOptions({
    queryKey: ['documents', wanted, start],
    placeholderData: keepPreviousData,
    queryFn: () => {
      const query = { limit: A_PAGE, ...wanted, ...(start ? { cursor: start } : {}) };
      return body(api.GET('/v1/documents', { params: { query } }));
    },
    refetchInterval: ({ state }) => (state.data?.items.some(isMoving) ?? false) && WATCHED_MILLISECONDS,
  });

/** The wanted documents, newest first; only those near what is seen are loaded, watched and drawn. */
export function DocumentList({ wanted, mayChange }: Props) {
  // The cursor after each page that was loaded; null after the last one
  const [ends, setEnds] = useState<(string | null)[]>([]);
  const setEnd = (index: number, end: string | null) =>
    setEnds((known) =>
      known[index] === end ? known : [...known.slice(0, index), end, ...(end ? known.slice(index + 1) : [])],
    );
  const starts = [undefined, ...ends].filter((start) => start !== null);
  return (
    // biome-ignore lint/a11y/useSemanticElements: between the list and its rows are groups, which come and go
    <div role="list" className={style.list}>
      {starts.map((start, index) => (
        <Windowed key={index} height={A_PAGE * ROW_HEIGHT}>
          {() => (
            <DocumentPage
              {...{ wanted, mayChange, start }}
              before={index * A_PAGE}
              onEnd={(end) => setEnd(index, end)}
            />
          )}
        </Windowed>
      ))}
    </div>
  );
}

interface PageProps extends Props {
  start: string | undefined;
  /** The number of documents on earlier pages. */
  before: number;
  onEnd: (end: string | null) => void;
}

function DocumentPage({ wanted, mayChange, start, before, onEnd }: PageProps) {
  const { data, error } = useQuery(pageOf(wanted, start));
  const told = useEffectEvent(onEnd);
  const end = data && (data.next_cursor ?? null);
  useEffect(() => {
    if (end !== undefined) told(end);
  }, [end]);
  if (!data) return error ? <p role="alert">{error.message}</p> : <div style={{ height: A_PAGE * ROW_HEIGHT }} />;
  const groups = Array.from({ length: Math.ceil(data.items.length / A_GROUP) }, (_, n) => n * A_GROUP);
  return groups.map((from) => {
    const items = data.items.slice(from, from + A_GROUP);
    return (
      <Windowed key={from} height={items.length * ROW_HEIGHT}>
        {() =>
          items.map((document, n) => (
            <DocumentRow key={document.id} document={document} position={before + from + n + 1} mayChange={mayChange} />
          ))
        }
      </Windowed>
    );
  });
}
