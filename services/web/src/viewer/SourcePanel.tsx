import { useMutation, useQuery } from '@tanstack/react-query';
import { type KeyboardEvent, Suspense, useEffect, useRef, useState } from 'react';
import { Button } from 'react-aria-components';
import { api, body, Problem, type Schemas } from '../api/client';
import { lastPart, saveFile } from '../api/save';
import { number, t } from '../i18n';
import { lazily } from '../shell/lazily';
import { Find } from './Find';
import type { Finder } from './finder';
import { TextSource } from './TextSource';
import style from './viewer.module.css';
import { nextZoom } from './zoom';

const PdfSource = lazily(() => import('./PdfSource'));
type Citation = Schemas['Citation'];

interface Props {
  citation: Citation;
  /** The citations of the same answer, this one included. */
  others: Citation[];
  onOpen: (citation: Citation) => void;
  onClose: () => void;
}

/** The cited document beside the answer, at the passage. */
export default function SourcePanel({ citation, others, onOpen, onClose }: Props) {
  const { document_id: documentId, chunk_id: chunkId } = citation;
  const heading = useRef<HTMLHeadingElement>(null);
  const finder = useRef<Finder>(null);
  const [zoom, setZoom] = useState(1);
  const [finding, setFinding] = useState(false);
  const document = useQuery({
    queryKey: ['document', documentId],
    queryFn: () => body(api.GET('/v1/documents/{document_id}', { params: { path: { document_id: documentId } } })),
  });
  const chunk = useQuery({ queryKey: ['chunk', documentId, chunkId], queryFn: () => passage(documentId, chunkId) });
  // biome-ignore lint/correctness/useExhaustiveDependencies: each citation that is opened moves the focus here
  useEffect(() => {
    setFinding(false);
    heading.current?.focus();
  }, [chunkId, citation.number]);
  const endFind = () => {
    setFinding(false);
    heading.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') onClose();
    else if (event.key === 'f' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault(); // here, instead of the browser's own search, which finds nothing in a picture of a page
      setFinding(true);
    }
  };
  const at = others.indexOf(citation);
  const step = (by: number) => {
    const target = others[at + by];
    return { isDisabled: !target, onPress: () => target && onOpen(target) };
  };
  const ready = document.data && chunk.data;
  const isPdf = document.data?.media_type === 'application/pdf';
  return (
    <aside className={style.panel} aria-label={t('source')} onKeyDown={onKeyDown}>
      <header>
        <h2 ref={heading} tabIndex={-1}>
          [{citation.number}] {citation.document_title ?? citation.document_name}
          {citation.section && <small>{citation.section}</small>}
          {!!citation.graph_path?.length && (
            <small>{t('foundThrough', { path: citation.graph_path.join(' › ') })}</small>
          )}
        </h2>
        <Button onPress={onClose}>{t('close')}</Button>
      </header>
      <div className={style.tools}>
        <Button {...step(-1)} aria-label={t('back')}>
          ‹
        </Button>
        <Button {...step(1)} aria-label={t('forward')}>
          ›
        </Button>
        {isPdf && <Zoom zoom={zoom} onZoom={setZoom} />}
        {!finding && (
          <Button isDisabled={!ready} onPress={() => setFinding(true)} aria-label={t('findInSource')}>
            {t('find')}
          </Button>
        )}
        {finding && <Find key={chunkId} finder={finder} onClose={endFind} />}
        {document.data && <Original documentId={documentId} name={document.data.name} />}
      </div>
      {!ready && <p role="status">{(document.error ?? chunk.error)?.message ?? t('loading')}</p>}
      {ready && isPdf && (
        <Suspense fallback={<p role="status">{t('loading')}</p>}>
          <PdfSource citation={citation} chunk={chunk.data} zoom={zoom} finder={finder} />
        </Suspense>
      )}
      {ready && !isPdf && (
        <TextSource citation={citation} chunk={chunk.data} document={document.data} finder={finder} />
      )}
    </aside>
  );
}

function Zoom({ zoom, onZoom }: { zoom: number; onZoom: (zoom: number) => void }) {
  const step = (by: 1 | -1) => {
    const next = nextZoom(zoom, by);
    return { isDisabled: next === undefined, onPress: () => next !== undefined && onZoom(next) };
  };
  return (
    <fieldset aria-label={t('zoom')}>
      <Button {...step(-1)} aria-label={t('zoomOut')}>
        −
      </Button>
      <output>{t('zoomShown', { percent: number(100 * zoom) })}</output>
      <Button {...step(1)} aria-label={t('zoomIn')}>
        +
      </Button>
    </fieldset>
  );
}

/** Downloads the original document. */
function Original({ documentId, name }: { documentId: string; name: string }) {
  const save = useMutation({ mutationFn: () => saveFile(`/v1/documents/${documentId}/original`, lastPart(name)) });
  return (
    <>
      <Button isDisabled={save.isPending} onPress={() => save.mutate()} aria-label={t('originalFile')}>
        {t('download')}
      </Button>
      {save.error && <span role="alert">{save.error.message}</span>}
    </>
  );
}

async function passage(documentId: string, chunkId: string): Promise<Schemas['Chunk']> {
  const path = { document_id: documentId, chunk_id: chunkId };
  try {
    const chunk = await body(api.GET('/v1/documents/{document_id}/chunks/{chunk_id}', { params: { path } }));
    return chunk as Schemas['Chunk']; // the client's types turn the box's tuple into a list
  } catch (problem) {
    throw problem instanceof Problem && problem.type === 'chunk-not-found' ? new Error(t('passageGone')) : problem;
  }
}
