import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { MultiDirectedGraph } from 'graphology';
import { useEffect, useMemo, useRef, useState } from 'react';
import Sigma from 'sigma';
import { EdgeLineProgram, NodePointProgram } from 'sigma/rendering';
import { useLocation } from 'wouter';
import { api, body, type Schemas } from '../api/client';
import { number, t } from '../i18n';
import { Choice } from '../shell/Choice';
import style from '../shell/page.module.css';
import { entityHref } from './EntityPage';
import own from './graph.module.css';
import type { Places, Wanted } from './layout.worker';
import { around, clear, LABEL_GAP, type Reach } from './spread';
import { typeInWords } from './tools';

const STEPS = ['1', '2', '3'] as const;
type Steps = (typeof STEPS)[number];
const NEIGHBOURS = { max_nodes: 60, max_edges: 200 };
const FARTHER = { max_nodes: 500, max_edges: 2000 }; // the most that the API gives
const MANY = 300; // nodes; more of them are drawn more simply
const SMALL = 0.4; // of the usual size
const LONGEST = 26; // characters of a label
const EDGE = 10; // pixels that stay free at the picture's edges
const FONT = '13px system-ui, sans-serif';
const DETAILED = { defaultEdgeType: 'arrow' };
// While it moves, a large graph shows its nodes alone. Without a graphics card what is filled takes the time, so its
// nodes are points, its edges a pixel wide
const SIMPLE = {
  defaultEdgeType: 'line',
  nodeProgramClasses: { circle: NodePointProgram },
  edgeProgramClasses: { line: EdgeLineProgram },
  hideEdgesOnMove: true,
  hideLabelsOnMove: true,
};
// Milliseconds of animations after the pointer or the wheel was used
const STILL = { zoomDuration: 0, doubleClickZoomingDuration: 0, inertiaDuration: 0 };

/** The entity and what is around it as a picture; the lists on the page have what is next to it, too. */
export default function Picture({ entity }: { entity: string }) {
  const [steps, setSteps] = useState<Steps>('1');
  const [kind, setKind] = useState(ALL);
  const { data, error, isFetching } = useQuery({
    queryKey: ['subgraph', entity, steps],
    placeholderData: keepPreviousData,
    queryFn: () => {
      const query = { entity, hops: Number(steps), ...(steps === '1' ? NEIGHBOURS : FARTHER) };
      return body(api.GET('/v1/graph/subgraph', { params: { query } }));
    },
  });
  const scheme = useScheme();
  const [can] = useState(canDraw);
  const shown = useMemo(() => data && ofKind(data, kind), [data, kind]);
  if (!can) return <p className={style.quiet}>{t('cannotDraw')}</p>;
  if (!data && error) return <p role="status">{error.message}</p>;
  if (data && data.nodes.length < 2) return null;
  const kinds = [...new Set(data?.nodes.map((node) => node.entity_type))].sort();
  return (
    <>
      <div className={style.form}>
        <Choice
          label={t('stepsShown')}
          value={steps}
          options={STEPS.map((value) => ({ value, name: value }))}
          onChange={setSteps}
        />
        <Choice
          label={t('kindShown')}
          value={kinds.includes(kind) ? kind : ALL}
          options={[{ value: ALL, name: t('all') }, ...kinds.map((value) => ({ value, name: typeInWords(value) }))]}
          onChange={setKind}
        />
      </div>
      {shown ? <Drawn key={scheme} graph={shown} entity={entity} /> : <div className={own.picture} aria-busy />}
      <p role="status" className={style.quiet}>
        {isFetching ? t('loading') : data?.truncated && t('pictureCut', { count: number(data.nodes.length) })}
      </p>
    </>
  );
}

const ALL = '';

/** The entity in the centre and those of a kind, with the relations between them. */
function ofKind(graph: Schemas['Subgraph'], kind: string): Schemas['Subgraph'] {
  if (kind === ALL) return graph;
  const nodes = graph.nodes.filter((node) => node.entity_type === kind || node.id === graph.centre?.id);
  return { ...graph, nodes };
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
    const isLarge = graph.nodes.length > MANY;
    const palette = colours(box);
    const model = modelOf(graph, palette, isLarge ? SMALL : 1);
    const { clientWidth: width, clientHeight: height } = box;
    const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches;
    let view: Sigma<Drawing> | undefined;
    const draw = () => {
      const labels: Label[] = []; // of one frame
      view = new Sigma(model, box, {
        ...(isLarge ? SIMPLE : DETAILED),
        ...(isCalm ? STILL : {}),
        stagePadding: 0,
        labelRenderedSizeThreshold: 0,
        labelDensity: MANY,
        defaultDrawNodeLabel: (context, { label, x, y, size }) => {
          if (label) labels.push({ context, label, x, y, size });
        },
        // the default draws a white box, even in the dark scheme
        defaultDrawNodeHover: (context, { label, x, y, size }) => {
          if (label) drawLabel({ context, label, x, y, size }, palette);
        },
      });
      view.on('beforeRender', () => void labels.splice(0));
      view.on('afterRender', () => drawClear(labels, palette));
      // A pixel is a pixel at the first view
      view.setCustomBBox({ x: [-EDGE, width - EDGE], y: [-EDGE, height - EDGE] });
      view.refresh();
      view.on('clickNode', ({ node }) => go(entityHref(String(model.getNodeAttribute(node, 'name')))));
      view.on('enterNode', () => box.setAttribute('data-over', 'true'));
      view.on('leaveNode', () => box.removeAttribute('data-over'));
    };
    // The panel of a source narrows it, which is no resizing of the window
    const resized = new ResizeObserver(() => view?.scheduleRefresh());
    resized.observe(box);
    const layout = new Worker(new URL('./layout.worker.ts', import.meta.url), { type: 'module' });
    layout.onmessage = ({ data: places }: MessageEvent<Places>) => {
      model.nodes().forEach((id, index) => {
        const [x, y] = places[index]!;
        model.mergeNodeAttributes(id, { x, y });
      });
      draw();
      box.setAttribute('data-drawn', 'true');
    };
    const wanted: Wanted = {
      ids: model.nodes(),
      edges: model.mapEdges((_edge, _attributes, from, to) => [from, to]),
      reaches: model.mapNodes((_node, { size, label }) => ({ radius: size, label: isLarge ? 0 : widthOf(label) })),
      box: { width: width - 2 * EDGE, height: height - 2 * EDGE },
    };
    layout.postMessage(wanted);
    return () => {
      resized.disconnect();
      layout.terminate();
      view?.kill();
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

interface Label {
  context: CanvasRenderingContext2D;
  label: string;
  x: number;
  y: number;
  size: number;
}

const measure = document.createElement('canvas').getContext('2d')!;

function widthOf(label: string): number {
  measure.font = FONT;
  return measure.measureText(label).width;
}

/** Draws the labels that are over no other one and not cut off, those of the largest nodes first. */
function drawClear(labels: Label[], palette: Colours): void {
  const reach = ({ size, label }: Label): Reach => ({ radius: size, label: widthOf(label) });
  const whole = labels
    .map((each) => ({ each, rectangle: around([each.x, each.y], reach(each)) }))
    .filter(({ each, rectangle }) => rectangle.right <= each.context.canvas.clientWidth)
    .sort((one, other) => other.each.size - one.each.size);
  for (const index of clear(whole.map(({ rectangle }) => rectangle))) drawLabel(whole[index]!.each, palette);
}

function drawLabel({ context, label, x, y, size }: Label, { text, surface }: Colours): void {
  context.font = FONT;
  context.lineWidth = 3;
  context.lineJoin = 'round';
  context.strokeStyle = surface;
  context.strokeText(label, x + size + LABEL_GAP, y + 4); // apart from the edges behind it
  context.fillStyle = text;
  context.fillText(label, x + size + LABEL_GAP, y + 4);
}

type Colours = Record<'text' | 'accent' | 'quiet' | 'line' | 'surface', string>;

/** The style sheet's colours in a format for the canvas. */
function colours(box: HTMLElement): Colours {
  const resolved = (name: keyof Colours) => {
    box.style.color = `var(--${name})`;
    const { color } = getComputedStyle(box);
    box.style.color = '';
    return color;
  };
  return {
    text: resolved('text'),
    accent: resolved('accent'),
    quiet: resolved('quiet'),
    line: resolved('line'),
    surface: resolved('surface'),
  };
}

interface Drawing {
  name: string;
  label: string;
  size: number;
  color: string;
  x?: number;
  y?: number;
}

function modelOf({ nodes, edges, centre }: Schemas['Subgraph'], colours: Colours, scale: number) {
  const { accent, quiet, line } = colours;
  const model = new MultiDirectedGraph<Drawing>();
  for (const { id, name, mentions } of nodes)
    model.addNode(id, {
      name,
      label: name.length > LONGEST ? `${name.slice(0, LONGEST - 1)}…` : name,
      size: scale * (4 + 1.5 * Math.log2(1 + mentions)),
      color: id === centre?.id ? accent : quiet,
    });
  for (const { source, target } of edges)
    if (model.hasNode(source) && model.hasNode(target) && !model.hasEdge(source, target))
      model.addEdge(source, target, { size: 2, color: line });
  return model;
}
