// Layout in a worker from this origin: the library's own worker is a blob, which the security policy forbids.
import { MultiDirectedGraph } from 'graphology';
import forceAtlas2 from 'graphology-layout-forceatlas2';

/** Node positions: x and y of each, in the order of the ids. `last` marks the final ones. */
export interface Places {
  ids: string[];
  places: Float32Array;
  last: boolean;
}

const ROUNDS = 20;
const GOLDEN_ANGLE = 2.399963; // no two nodes start at the same position

self.onmessage = ({ data: { ids, edges } }: MessageEvent<{ ids: string[]; edges: [string, string][] }>) => {
  const graph = new MultiDirectedGraph();
  ids.forEach((id, index) => {
    const radius = Math.sqrt(index);
    graph.addNode(id, { x: radius * Math.cos(index * GOLDEN_ANGLE), y: radius * Math.sin(index * GOLDEN_ANGLE) });
  });
  for (const [source, target] of edges) graph.addEdge(source, target);
  const settings = { ...forceAtlas2.inferSettings(graph), barnesHutOptimize: ids.length > 300 };
  for (let round = 1; round <= ROUNDS; round++) {
    forceAtlas2.assign(graph, { iterations: 10, settings });
    const places = new Float32Array(
      ids.flatMap((id) => [graph.getNodeAttribute(id, 'x'), graph.getNodeAttribute(id, 'y')]),
    );
    postMessage({ ids, places, last: round === ROUNDS } satisfies Places, { transfer: [places.buffer] });
  }
};
