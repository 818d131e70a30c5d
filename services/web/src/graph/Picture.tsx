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
import type { Places } from './layout.worker';
import { typeInWords } from './tools';

const STEPS = ['1', '2', '3'] as const;
type Steps = (typeof STEPS)[number];
const NEIGHBOURS = { max_nodes: 60, max_edges: 200 };
const FARTHER = { max_nodes: 500, max_edges: 2000 }; // the most that the API gives
const MANY = 300; // nodes; more of them are drawn more simply
const SMALL = 0.4; // of the usual size
const DETAILED = { defaultEdgeType: 'arrow', labelRenderedSizeThreshold: 0, labelDensity: 2 };
// While it moves, a large graph shows its nodes alone. Without a graphics card what is filled takes the time, so its
// nodes are points, its edges a pixel wide
const SIMPLE = {
  defaultEdgeType: 'line',
  nodeProgramClasses: { circle: NodePointProgram },
  edgeProgramClasses: { line: EdgeLineProgram },
  labelRenderedSizeThreshold: 4,
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
  if (!data || !shown) return error ? <p role="status">{error.message}</p> : <div className={own.picture} aria-busy />;
  if (data.nodes.length < 2) return null;
  const kinds = [...new Set(data.nodes.map((node) => node.entity_type))].sort();
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
      <Drawn key={scheme} graph={shown} entity={entity} />
      <p role="status" className={style.quiet}>
        {isFetching ? t('loading') : data.truncated && t('pictureCut', { count: number(data.nodes.length) })}
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
    const model = modelOf(graph, colours(box), isLarge ? SMALL : 1);
    const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches;
    let view: Sigma | undefined;
    const draw = () => {
      view = new Sigma(model, box, {
        labelColor: { attribute: 'labelColor' },
        ...(isLarge ? SIMPLE : DETAILED),
        ...(isCalm ? STILL : {}),
        defaultDrawNodeHover: () => undefined, // the default draws a white box, even in the dark scheme
      });
      view.on('clickNode', ({ node }) => go(entityHref(String(model.getNodeAttribute(node, 'label')))));
      view.on('enterNode', () => box.setAttribute('data-over', 'true'));
      view.on('leaveNode', () => box.removeAttribute('data-over'));
    };
    // The panel of a source narrows it, which is no resizing of the window
    const resized = new ResizeObserver(() => view?.scheduleRefresh());
    resized.observe(box);
    if (!isLarge) draw(); // a large one is drawn once, when it has its form
    const layout = new Worker(new URL('./layout.worker.ts', import.meta.url), { type: 'module' });
    layout.onmessage = ({ data: { ids, places, last } }: MessageEvent<Places>) => {
      if (!last && (isCalm || isLarge)) return; // shows only the final positions
      const at = new Map(ids.map((id, i) => [id, { x: places[2 * i]!, y: places[2 * i + 1]! }]));
      model.updateEachNodeAttributes((id, attributes) => ({ ...attributes, ...at.get(id) }), {
        attributes: ['x', 'y'],
      });
      if (!view) draw();
      if (last) box.setAttribute('data-drawn', 'true');
    };
    layout.postMessage({ ids: model.nodes(), edges: model.mapEdges((_edge, _attributes, from, to) => [from, to]) });
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

function modelOf({ nodes, edges, centre }: Schemas['Subgraph'], colours: Colours, scale: number) {
  const { text, accent, quiet, line } = colours;
  const model = new MultiDirectedGraph();
  nodes.forEach(({ id, name, mentions }, index) => {
    const color = id === centre?.id ? accent : quiet;
    const at = { x: Math.cos(index), y: Math.sin(index) };
    model.addNode(id, {
      ...at,
      label: name,
      size: scale * (4 + 1.5 * Math.log2(1 + mentions)),
      color,
      labelColor: text,
    });
  });
  for (const { source, target } of edges)
    if (model.hasNode(source) && model.hasNode(target) && !model.hasEdge(source, target))
      model.addEdge(source, target, { size: 2, color: line });
  return model;
}
