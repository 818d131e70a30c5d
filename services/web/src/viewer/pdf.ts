// Sets up pdf.js: its worker, fonts and decoders come from this origin.

import type { PDFDocumentProxy, PDFPageProxy } from 'pdfjs-dist';
import * as pdfjs from 'pdfjs-dist';
import workerSrc from 'pdfjs-dist/build/pdf.worker.min.mjs?url';
import { workspaceHeaders } from '../api/workspace';
import type { TextRun } from './geometry';

pdfjs.GlobalWorkerOptions.workerSrc = workerSrc;
declare const PDFJS_FILES: string; // replaced by the folder's URL during the build

export function open(url: string): Promise<PDFDocumentProxy> {
  const cMapUrl = `${PDFJS_FILES}cmaps/`;
  const standardFontDataUrl = `${PDFJS_FILES}standard_fonts/`;
  const wasmUrl = `${PDFJS_FILES}wasm/`;
  const httpHeaders = workspaceHeaders();
  return pdfjs.getDocument({ url, httpHeaders, cMapUrl, standardFontDataUrl, wasmUrl, isEvalSupported: false }).promise;
}

/** Draws the page at this width in CSS pixels, then calls `onDrawn`; the task can be cancelled. */
export function render(
  page: PDFPageProxy,
  canvas: HTMLCanvasElement,
  width: number,
  onDrawn: () => void,
): { cancel(): void } {
  const scale = width / page.getViewport({ scale: 1 }).width;
  const viewport = page.getViewport({ scale: scale * devicePixelRatio });
  canvas.width = viewport.width;
  canvas.height = viewport.height;
  const task = page.render({ canvas, viewport });
  task.promise.then(onDrawn).catch((error: Error) => {
    if (error.name !== 'RenderingCancelledException') throw error;
  });
  return task;
}

/** The page's text runs with rectangles in points from the upper left corner. */
export async function textRuns(page: PDFPageProxy): Promise<TextRun[]> {
  const viewport = page.getViewport({ scale: 1 });
  const { items } = await page.getTextContent();
  return items.flatMap((item) => {
    if (!('str' in item) || !item.str) return [];
    const [, , c, d, x, y] = pdfjs.Util.transform(viewport.transform, item.transform) as number[];
    const height = Math.hypot(c!, d!);
    return [{ text: item.str, left: x!, top: y! - height, width: item.width, height }];
  });
}
