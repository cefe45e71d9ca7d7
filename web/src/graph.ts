// The graph of one group, drawn as dagre places it. Enter or a double click opens what has an
// inside, arrow keys go from node to node, Backspace goes up.

import { select } from "d3-selection";
import { curveBasis, line } from "d3-shape";
import { zoom, zoomIdentity, zoomTransform, type D3ZoomEvent } from "d3-zoom";
import { button, fresh, h, s } from "./dom";
import { share, time } from "./format";
import { isGroup, leaves, type Group, type Item } from "./groups";
import { placed, type Placed, type PlacedEdge, type PlacedNode } from "./layout";
import { level } from "./level";
import { roving } from "./roving";
import type { Leaf, Scope } from "./scope";
import { nodeTime, scopeTime } from "./times";
import { tip } from "./tooltip";

const READABLE = 0.65; // the scale at which text can still be read

export interface GraphView {
  element: HTMLElement;
  show: (scope: Scope, group: Group, chosen?: Leaf) => void;
  focus: () => void;
}

interface Actions {
  choose: (item: Item) => void;
  open: (item: Item) => void;
  up: () => void;
}

export function graphView(actions: Actions): GraphView {
  const arrow = fresh("arrow");
  const canvas = s("g");
  const nodes = s("g", { class: "nodes", role: "group", "aria-label": "Nodes" });
  const edges = s("g", { class: "edges", "aria-hidden": "true" });
  canvas.append(edges, nodes);
  const svg = s("svg", { class: "graph" }, s("defs", {}, marker(arrow)), canvas);
  const behaviour = zoom<SVGSVGElement, unknown>()
    .scaleExtent([0.05, 3])
    .on("zoom", (event: D3ZoomEvent<SVGSVGElement, unknown>) =>
      canvas.setAttribute("transform", event.transform.toString()),
    );
  const surface = select(svg);
  surface.call(behaviour).on("dblclick.zoom", null);
  const element = h("div", { class: "canvas" }, toolbar(), svg);
  let picture: Placed = { nodes: [], edges: [], width: 0, height: 0 };
  let chosenNode: PlacedNode | undefined;
  svg.addEventListener("keydown", (event) => {
    if (event.key !== "Backspace" && event.key !== "Escape") return;
    event.preventDefault();
    actions.up();
  });
  let fitted = false;
  new ResizeObserver(() => {
    if (!fitted && svg.clientWidth) fit();
  }).observe(svg);

  function show(scope: Scope, group: Group, chosen?: Leaf): void {
    tip.hide();
    picture = placed(level(scope, group));
    const total = scopeTime(scope);
    edges.replaceChildren(...picture.edges.flatMap((edge) => drawnEdge(edge, arrow)));
    const drawn = picture.nodes.map((node) => ({ node, made: drawnNode(node, total) }));
    nodes.replaceChildren(...drawn.map(({ made }) => made));
    const first = drawn.find(({ node }) => chosen && node.item === chosen) ?? drawn[0];
    drawn.forEach(({ made }) => made.setAttribute("tabindex", "-1"));
    first?.made.setAttribute("tabindex", "0");
    roving(nodes, ".node");
    chosenNode = chosen && first?.node.item === chosen ? first.node : undefined;
    if (chosenNode) mark(first!.made);
    fitted = false;
    if (svg.clientWidth) fit();
  }

  function drawnNode(node: PlacedNode, total: number): SVGGElement {
    const { x, y, width, height } = node;
    const corner = node.kind === "port" || node.kind === "state" ? height / 2 : 4;
    const attributes = { width, height, rx: Math.min(corner, 18) };
    const made = s(
      "g",
      {
        class: `node ${node.kind} ${fate(node.item)}`,
        transform: `translate(${x - width / 2},${y - height / 2})`,
        role: "button",
        "aria-label": spoken(node, total),
      },
      node.kind === "group" ? s("rect", { class: "behind", ...attributes, x: 4, y: 4 }) : null,
      s("rect", { class: "body", ...attributes }),
      s("text", { class: "title", x: width / 2, y: node.lines[1] ? 18 : 19 }, node.lines[0]),
      " ", // a space between the words, for those who hear them
      node.lines[1] ? s("text", { class: "sub", x: width / 2, y: 34 }, node.lines[1]) : null,
      " ",
      ...heat(node, total),
    );
    listen(made, node);
    return made;
  }

  function listen(made: SVGGElement, node: PlacedNode): void {
    made.addEventListener("click", () => choose(made, node));
    made.addEventListener("focus", () => {
      reveal(node);
      if (node.item) actions.choose(node.item);
    });
    made.addEventListener("pointerleave", () => tip.hide());
    made.addEventListener("pointermove", (event) => {
      const [title, sub] = node.lines;
      if (title !== node.title || sub !== node.sub) tip.show(event, node.title, [node.sub]);
    });
    made.addEventListener("dblclick", () => node.item && actions.open(node.item));
    made.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      choose(made, node);
      if (node.item) actions.open(node.item);
    });
  }

  function choose(made: SVGGElement, node: PlacedNode): void {
    mark(made);
    made.focus({ preventScroll: true });
    if (node.item) actions.choose(node.item);
  }

  /** Moves the picture as little as it takes to have a node in view. */
  function reveal(node: PlacedNode): void {
    const { k, x, y } = zoomTransform(svg);
    const { clientWidth, clientHeight } = svg;
    const dx = outside(k * (node.x - node.width / 2) + x, k * (node.x + node.width / 2) + x, clientWidth);
    const dy = outside(k * (node.y - node.height / 2) + y, k * (node.y + node.height / 2) + y, clientHeight);
    if (dx || dy) behaviour.transform(surface, zoomIdentity.translate(x - dx, y - dy).scale(k));
  }

  function mark(made: SVGGElement): void {
    nodes.querySelectorAll(".chosen").forEach((one) => one.classList.remove("chosen"));
    made.classList.add("chosen");
  }

  function fit(): void {
    fitted = true;
    if (!picture.nodes.length) return;
    const { clientWidth, clientHeight } = svg;
    const scale = Math.min(1, Math.max(READABLE, clientWidth / picture.width));
    const at = chosenNode ?? picture.nodes.find((node) => node.kind !== "state") ?? picture.nodes[0];
    const x = shift(clientWidth, picture.width * scale, (at?.x ?? 0) * scale);
    const y = shift(clientHeight, picture.height * scale, chosenNode ? chosenNode.y * scale : 0);
    behaviour.transform(surface, zoomIdentity.translate(x, y).scale(scale));
  }

  function whole(): void {
    if (!picture.nodes.length) return;
    const { clientWidth, clientHeight } = svg;
    const scale = Math.min(1, clientWidth / picture.width, clientHeight / picture.height);
    const x = (clientWidth - picture.width * scale) / 2;
    const y = (clientHeight - picture.height * scale) / 2;
    behaviour.transform(surface, zoomIdentity.translate(x, y).scale(scale));
  }

  function toolbar(): HTMLElement {
    return h(
      "div",
      { class: "toolbar" },
      button("+", () => behaviour.scaleBy(surface, 1.5), { "aria-label": "Zoom in" }),
      button("−", () => behaviour.scaleBy(surface, 1 / 1.5), { "aria-label": "Zoom out" }),
      button("Fit", whole),
      h("span", { class: "quiet" }, "click for details, double click or Enter opens, Backspace goes up"),
    );
  }

  return {
    element,
    show,
    focus: () => nodes.querySelector<SVGGElement>('.node[tabindex="0"]')?.focus(),
  };
}

/** How far a stretch stands out of `0..room`, with a little air around it. */
function outside(from: number, to: number, room: number): number {
  const air = 12;
  return from < air ? from - air : to > room - air ? to - room + air : 0;
}

/** In the middle where it fits, else with `at` as near to the middle as leaves no gap. */
function shift(room: number, size: number, at: number): number {
  if (size <= room) return (room - size) / 2;
  return Math.min(0, Math.max(room - size, room / 2 - at));
}

export function opens(item: Item): boolean {
  return isGroup(item) || (item.kind === "delegate" && item.inner().length > 0);
}

function fate(item: Item | null): string {
  if (!item) return "";
  const found = new Set(leaves(item).map((leaf) => leaf.fate));
  if (found.size === 1) return `fate-${[...found][0]}`;
  return "fate-mixed";
}

/** What is written on it, word for word, then what it is. */
function spoken(node: PlacedNode, total: number): string {
  const written = [...node.lines, measured(node, total)].filter(Boolean).join(" ");
  const whole = node.lines[0] === node.title ? "" : node.title;
  const what = { port: "value", state: "state", group: "group", delegate: "delegate" }[node.kind] ?? "";
  const changed = fate(node.item).replace("fate-", "").replace("same", "");
  const inside = node.item && opens(node.item) ? "opens" : "";
  return [written, whole, what, changed, inside].filter(Boolean).join(", ");
}

function measured(node: PlacedNode, total: number): string {
  const spent = nodeTime(node);
  return spent === null || !total ? "" : `${time(spent)} · ${share(spent, total)}`;
}

function heat(node: PlacedNode, total: number): SVGElement[] {
  const spent = nodeTime(node);
  if (spent === null || !total) return [];
  const { width, height } = node;
  const bar = Math.max(2, ((width - 20) * spent) / total);
  return [
    s("text", { class: "spent", x: width / 2, y: height - 9 }, measured(node, total)),
    s("rect", { class: "heat-track", x: 10, y: height - 6, width: width - 20, height: 3 }),
    s("rect", { class: "heat", x: 10, y: height - 6, width: Math.min(bar, width - 20), height: 3 }),
  ];
}

function drawnEdge(edge: PlacedEdge, arrow: string): SVGElement[] {
  const path = line<{ x: number; y: number }>((p) => p.x, (p) => p.y).curve(curveBasis)(edge.points);
  const drawn = s("path", {
    class: edge.state ? "edge state" : "edge",
    d: path ?? "",
    "marker-end": `url(#${arrow})`,
  });
  if (!edge.label) return [drawn];
  return [drawn, s("text", { class: "edge-name", x: edge.x, y: edge.y + 4 }, edge.label)];
}

function marker(id: string): SVGElement {
  return s(
    "marker",
    { id, viewBox: "0 0 8 8", refX: 7.5, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" },
    s("path", { class: "arrow", d: "M0 0.5 L8 4 L0 7.5 z" }),
  );
}
