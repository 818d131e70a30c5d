import { useQuery } from '@tanstack/react-query';
import type { PDFDocumentProxy, PDFPageProxy } from 'pdfjs-dist';
import { type Ref, useEffect, useImperativeHandle, useRef, useState } from 'react';
import type { Schemas } from '../api/client';
import { t } from '../i18n';
import { type Finder, MOST_PLACES } from './finder';
import { around, type Box, linesOf, locate, locateAll, type Rectangle, share } from './geometry';
import { open, render, textRuns } from './pdf';
import { spanOf } from './span';
import style from './viewer.module.css';

interface Props {
  citation: Schemas['Citation'];
  chunk: Schemas['Chunk'];
  /** The width of the page relative to the panel. */
  zoom: number;
  finder: Ref<Finder>;
}

/** The page of the passage, with its box framed and the quoted words, or on a scan the quote's lines, marked. */
export default function PdfSource({ citation, chunk, zoom, finder }: Props) {
  const url = `/v1/documents/${citation.document_id}/original`;
  const pdf = useQuery({ queryKey: ['pdf', url], queryFn: () => open(url), staleTime: Infinity, gcTime: 60_000 });
  const place = useQuery({
    enabled: Boolean(pdf.data),
    queryKey: ['place', url, chunk.chunk_id, citation.quote, citation.start],
    queryFn: () => findPlace(pdf.data!, citation, chunk),
    gcTime: 60_000,
  });
  const places = useRef<Place[]>([]);
  const [shown, setShown] = useState<Place>();
  useImperativeHandle(finder, () => ({
    find: async (words) => {
      places.current = pdf.data ? await placesOf(pdf.data, words) : [];
      return places.current.length;
    },
    show: (index) => setShown(places.current[index]),
    clear: () => setShown(undefined),
  }));
  if (!place.data) return <p role="status">{(pdf.error ?? place.error)?.message ?? t('loading')}</p>;
  return <Page {...(shown ?? place.data)} pages={pdf.data!.numPages} quote={citation.quote} zoom={zoom} />;
}

interface Place {
  page: PDFPageProxy;
  frame: Rectangle | undefined;
  words: Rectangle[];
}

/** All places with the words, from the first page on. */
async function placesOf(pdf: PDFDocumentProxy, words: string): Promise<Place[]> {
  const found: Place[] = [];
  for (let number = 1; number <= pdf.numPages && found.length < MOST_PLACES; number++) {
    const page = await pdf.getPage(number);
    const { width, height } = page.getViewport({ scale: 1 });
    for (const rectangles of locateAll(words, await textRuns(page), MOST_PLACES - found.length)) {
      const shares = rectangles.map((rectangle) => share(rectangle, width, height));
      found.push({ page, frame: undefined, words: shares });
    }
  }
  return found;
}

/**
 * The first page of the passage that contains the whole quote as text; otherwise the page of its lines, of which scans
 * have nothing else; otherwise the passage's first page.
 */
async function findPlace(
  pdf: PDFDocumentProxy,
  citation: Schemas['Citation'],
  chunk: Schemas['Chunk'],
): Promise<Place> {
  const lines = chunk.boxes ?? [];
  const first = chunk.page ?? 1;
  const last = Math.min(chunk.page_end ?? first, pdf.numPages);
  const places: Place[] = [];
  for (let number = first; number <= last; number++) {
    const page = await pdf.getPage(number);
    // the box is on the first page
    const box = number === first ? ((chunk.box as Box | null) ?? undefined) : around(lines, number);
    const { width, height } = page.getViewport({ scale: 1 });
    const words = locate(citation.quote, await textRuns(page), box).map((word) => share(word, width, height));
    const [left, top, right, bottom] = box ?? [0, 0, 0, 0];
    const frame = box && share({ left, top, width: right - left, height: bottom - top }, width, height);
    places.push({ page, frame, words });
    if (words.length) return places.at(-1)!;
  }
  const marked = linesOf(lines, ...spanOf(citation, chunk.content));
  const place = places.find(({ page }) => page.pageNumber === marked[0]?.page);
  if (!place) return places[0]!;
  const { width, height } = place.page.getViewport({ scale: 1 });
  const words = marked.filter(({ page }) => page === place.page.pageNumber).map((line) => share(line, width, height));
  return { ...place, words };
}

function Page({ page, frame, words, pages, quote, zoom }: Place & { pages: number; quote: string; zoom: number }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const target = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the width follows from the zoom
  useEffect(() => {
    const width = canvas.current!.parentElement!.clientWidth;
    const sheet = canvas.current!;
    sheet.removeAttribute('data-drawn');
    const task = render(page, sheet, width, () => sheet.setAttribute('data-drawn', 'true'));
    return () => task.cancel();
  }, [page, zoom]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each quote, and each size of the page, has its own place
  useEffect(
    () => void target.current?.scrollIntoView({ block: 'center', inline: zoom > 1 ? 'start' : 'nearest' }),
    [page, quote, zoom, words],
  );
  const { width, height } = page.getViewport({ scale: 1 });
  return (
    <figure className={style.page} tabIndex={0}>
      <div style={{ aspectRatio: `${width} / ${height}`, width: `${100 * zoom}%` }}>
        <canvas ref={canvas} role="img" aria-label={`${t('page', { page: page.pageNumber })}: ${quote}`} />
        {frame && <div ref={target} className={style.frame} style={percent(frame)} data-testid="frame" />}
        {words.map((word, index) => (
          <div
            key={index}
            ref={frame || index ? undefined : target}
            className={style.word}
            style={percent(word)}
            data-testid="word"
          />
        ))}
      </div>
      <figcaption data-located={words.length > 0}>
        {t('pageOf', { page: page.pageNumber, pages })}
        {!words.length && ` · ${t('notLocated')}`}
      </figcaption>
    </figure>
  );
}

const percent = (rectangle: Rectangle) => ({
  left: `${100 * rectangle.left}%`,
  top: `${100 * rectangle.top}%`,
  width: `${100 * rectangle.width}%`,
  height: `${100 * rectangle.height}%`,
});
