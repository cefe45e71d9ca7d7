// Where nodes and edges go: dagre's answer, with sizes from the text.

import { Graph, layout } from "@dagrejs/dagre";
import type { GraphEdge, GraphNode, Level } from "./level";
import { cut } from "./format";
import { nodeTime } from "./times";

const LETTER = 6.9; // pixels, of the node's title
const LABELS = 90; // edges up to which each has its label

export interface PlacedNode extends GraphNode {
  x: number;
  y: number;
  width: number;
  height: number;
  lines: [string, string];
}

export interface PlacedEdge extends GraphEdge {
  points: { x: number; y: number }[];
  label: string;
  x: number;
  y: number;
}

export interface Placed {
  nodes: PlacedNode[];
  edges: PlacedEdge[];
  width: number;
  height: number;
}

export function placed(shown: Level): Placed {
  const graph = new Graph({ multigraph: true });
  graph.setGraph({ rankdir: "TB", nodesep: 24, ranksep: 34, edgesep: 12, marginx: 16, marginy: 16 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const node of shown.nodes) graph.setNode(node.id, size(node));
  const named = shown.edges.length <= LABELS;
  shown.edges.forEach((edge, i) => {
    const text = named ? label(edge) : "";
    const room = text ? { width: text.length * 6 + 8, height: 14, labelpos: "c" } : {};
    graph.setEdge(edge.from, edge.to, { text, ...room }, String(i));
  });
  layout(graph);
  const nodes = shown.nodes.map((node) => ({ ...node, ...(graph.node(node.id) as Box), lines: lines(node) }));
  const edges = shown.edges.map((edge, i) => {
    const found = graph.edge({ v: edge.from, w: edge.to, name: String(i) }) as unknown as Drawn;
    return { ...edge, points: found.points, label: found.text, x: found.x ?? 0, y: found.y ?? 0 };
  });
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
  return { nodes, edges, width, height };
}

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

interface Drawn {
  points: { x: number; y: number }[];
  text: string;
  x?: number;
  y?: number;
}

function lines(node: GraphNode): [string, string] {
  return [cut(node.title, 36), cut(node.sub, 52)];
}

function size(node: GraphNode): { width: number; height: number } {
  const [title, sub] = lines(node);
  const letters = Math.max(title.length * LETTER, sub.length * LETTER * 0.88);
  const timed = nodeTime(node) === null ? 0 : 16;
  return { width: Math.max(72, letters + 28), height: (sub ? 44 : 30) + timed };
}

function label(edge: GraphEdge): string {
  if (edge.labels.size === 1) return cut([...edge.labels][0]!, 30);
  return edge.labels.size ? `${edge.labels.size} types` : "";
}
