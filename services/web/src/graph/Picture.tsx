import { useQuery } from '@tanstack/react-query';
import { MultiDirectedGraph } from 'graphology';
import { useEffect, useRef, useState } from 'react';
import Sigma from 'sigma';
import { useLocation } from 'wouter';
import { api, body, type Schemas } from '../api/client';
import { t } from '../i18n';
import style from '../shell/page.module.css';
import { entityHref } from './EntityPage';
import own from './graph.module.css';
import type { Places } from './layout.worker';

const MOST_NODES = 60;
const MOST_EDGES = 200;
// Milliseconds of animations after the pointer or the wheel was used
const STILL = { zoomDuration: 0, doubleClickZoomingDuration: 0, inertiaDuration: 0 };

/** The entity and its neighbours as a picture; the lists on the page have the same content. */
export default function Picture({ entity }: { entity: string }) {
  const { data, error } = useQuery({
    queryKey: ['subgraph', entity],
    queryFn: () => {
      const query = { entity, hops: 1, max_nodes: MOST_NODES, max_edges: MOST_EDGES };
      return body(api.GET('/v1/graph/subgraph', { params: { query } }));
    },
  });
  const scheme = useScheme();
  const [can] = useState(canDraw);
  if (!can) return <p className={style.quiet}>{t('cannotDraw')}</p>;
  if (!data) return error ? <p role="status">{error.message}</p> : <div className={own.picture} aria-busy />;
  if (data.nodes.length < 2) return null;
  return <Drawn key={scheme} graph={data} entity={entity} />;
}

const canDraw = () => document.createElement('canvas').getContext('webgl2') !== null;

/** The colour scheme; a canvas does not follow the style sheet automatically. */
function useScheme(): string {
  const [dark] = useState(() => matchMedia('(prefers-color-scheme: dark)'));
  const [isDark, setDark] = useState(dark.matches);
  useEffect(() => {
    const change = () => setDark(dark.matches);
    dark.addEventListener('change', change);
    return () => dark.removeEventListener('change', change);
  }, [dark]);
  return isDark ? 'dark' : 'light';
}

function Drawn({ graph, entity }: { graph: Schemas['Subgraph']; entity: string }) {
  const place = useRef<HTMLDivElement>(null);
  const [, go] = useLocation();
  useEffect(() => {
    const box = place.current!;
    const model = modelOf(graph, colours(box));
    const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches;
    const view = new Sigma(model, box, {
      labelColor: { attribute: 'labelColor' },
      defaultEdgeType: 'arrow',
      labelRenderedSizeThreshold: 0,
      labelDensity: 2,
      ...(isCalm ? STILL : {}),
      defaultDrawNodeHover: () => undefined, // the default draws a white box, even in the dark scheme
    });
    view.on('clickNode', ({ node }) => go(entityHref(String(model.getNodeAttribute(node, 'label')))));
    view.on('enterNode', () => box.setAttribute('data-over', 'true'));
    view.on('leaveNode', () => box.removeAttribute('data-over'));
    const layout = new Worker(new URL('./layout.worker.ts', import.meta.url), { type: 'module' });
    layout.onmessage = ({ data: { ids, places, last } }: MessageEvent<Places>) => {
      if (isCalm && !last) return; // shows only the final positions
      for (const [i, id] of ids.entries()) model.mergeNodeAttributes(id, { x: places[2 * i]!, y: places[2 * i + 1]! });
      if (last) box.setAttribute('data-drawn', 'true');
    };
    layout.postMessage({ ids: model.nodes(), edges: model.mapEdges((_edge, _attributes, from, to) => [from, to]) });
    return () => {
      layout.terminate();
      view.kill();
    };
  }, [graph, go]);
  return (
    <div
      ref={place}
      className={own.picture}
      role="img"
      aria-label={t('pictureOf', { name: entity, count: graph.nodes.length - 1 })}
    />
  );
}

type Colours = Record<'text' | 'accent' | 'quiet' | 'line', string>;

/** The style sheet's colours in a format for the canvas. */
function colours(box: HTMLElement): Colours {
  const resolved = (name: keyof Colours) => {
    box.style.color = `var(--${name})`;
    const { color } = getComputedStyle(box);
    box.style.color = '';
    return color;
  };
  return { text: resolved('text'), accent: resolved('accent'), quiet: resolved('quiet'), line: resolved('line') };
}

function modelOf({ nodes, edges, centre }: Schemas['Subgraph'], { text, accent, quiet, line }: Colours) {
  const model = new MultiDirectedGraph();
  nodes.forEach(({ id, name, mentions }, index) => {
    const color = id === centre?.id ? accent : quiet;
    const at = { x: Math.cos(index), y: Math.sin(index) };
    model.addNode(id, { ...at, label: name, size: 4 + 1.5 * Math.log2(1 + mentions), color, labelColor: text });
  });
  for (const { source, target } of edges)
    if (model.hasNode(source) && model.hasNode(target) && !model.hasEdge(source, target))
      model.addEdge(source, target, { size: 2, color: line });
  return model;
}
