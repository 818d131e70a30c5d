// Layout in a worker from this origin: the library's own worker is a blob, which the security policy forbids.
import { MultiDirectedGraph } from 'graphology';
import forceAtlas2 from 'graphology-layout-forceatlas2';
import { type Reach, type Size, spread } from './spread';

export interface Wanted {
  ids: string[];
  edges: [string, string][];
  /** In the order of the ids, in pixels. */
  reaches: Reach[];
  box: Size;
}

/** Node positions in pixels: x and y of each, in the order of the ids. */
export type Places = [x: number, y: number][];

const ITERATIONS = 200;
const GOLDEN_ANGLE = 2.399963; // no two nodes start at the same position

self.onmessage = ({ data: { ids, edges, reaches, box } }: MessageEvent<Wanted>) => {
  const graph = new MultiDirectedGraph();
  ids.forEach((id, index) => {
    const radius = Math.sqrt(index);
    graph.addNode(id, { x: radius * Math.cos(index * GOLDEN_ANGLE), y: radius * Math.sin(index * GOLDEN_ANGLE) });
  });
  for (const [source, target] of edges) graph.addEdge(source, target);
  const settings = { ...forceAtlas2.inferSettings(graph), barnesHutOptimize: ids.length > 300 };
  forceAtlas2.assign(graph, { iterations: ITERATIONS, settings });
  const places = ids.map((id): [number, number] => [graph.getNodeAttribute(id, 'x'), graph.getNodeAttribute(id, 'y')]);
  postMessage(spread(places, reaches, box) satisfies Places);
};
