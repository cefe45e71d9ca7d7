// A treemap of one part: its children as tiles, and theirs inside them.

import { hierarchy, treemap as layout, treemapSquarify, type HierarchyRectangularNode } from "d3-hierarchy";
import { button, h } from "./dom";
import { bytes, signedBytes } from "./format";
import { kind } from "./kinds";
import { area, type Node } from "./parts";
import { roving } from "./roving";

const LEVELS = 3;
const HEAD = 20; // pixels for the name of a tile that has tiles inside
const LETTER = 6.6; // pixels of a letter of a caption, and of what is beside it
const PADDING = 10;
const SMALLEST = 3; // pixels below which a tile is left out

interface Shown {
  node: Node;
  children: Shown[];
}

type Rectangle = HierarchyRectangularNode<Shown>;

export function treemap(onOpen: (node: Node) => void, two: boolean) {
  const label = "Treemap; the table beside it says the same";
  const element = h("div", { class: "treemap", role: "group", "aria-label": label });
  let current: Node | null = null;
  new ResizeObserver(() => current && draw(current)).observe(element);

  function draw(node: Node): void {
    const { clientWidth: width, clientHeight: height } = element;
    if (!width) return;
    const tree = hierarchy(shown(node, LEVELS), (one) => one.children);
    tree.sum((one) => (one.children.length ? 0 : area(one.node)));
    tree.sort((a, b) => (b.value ?? 0) - (a.value ?? 0));
    const place = layout<Shown>()
      .tile(treemapSquarify.ratio(1.3))
      .size([width, height])
      .paddingInner(2)
      .paddingTop((one) => (one.depth && one.depth < LEVELS && roomy(one) ? HEAD : 0))
      .round(true);
    const root = place(tree);
    const children = node.children.length ? (root.children ?? []) : [root];
    element.replaceChildren(...children.filter(visible).flatMap(tiles));
    roving(element, "button");
  }

  function tiles(one: Rectangle): HTMLElement[] {
    const inside = inner(one);
    return [tile(one, inside.length > 0), ...inside];
  }

  /** What is drawn inside of a tile: for eyes and pointers, as the tile itself opens it. */
  function inner(one: Rectangle): HTMLElement[] {
    if (!roomy(one)) return [];
    return (one.children ?? []).filter(visible).flatMap((child) => {
      const inside = inner(child);
      return [leaf(child, inside.length > 0), ...inside];
    });
  }

  function tile(one: Rectangle, open: boolean): HTMLElement {
    const { node } = one.data;
    const written = caption(one, node);
    const made = button(written, () => onOpen(node), {
      class: `tile ${colour(node)}${open ? " open" : ""}`,
      title: text(node),
      "aria-label": written ? undefined : text(node),
    });
    put(made, one);
    return made;
  }

  function leaf(one: Rectangle, open: boolean): HTMLElement {
    const { node } = one.data;
    const attributes = { class: `tile inner ${colour(node)}${open ? " open" : ""}`, "aria-hidden": "true", title: text(node) };
    const made = h("div", attributes, caption(one, node));
    made.addEventListener("click", () => onOpen(node.children.length ? node : node.parent!));
    put(made, one);
    return made;
  }

  function colour(node: Node): string {
    return two ? `fate-${node.fate}` : `kind-${kind(node)}`;
  }

  function text(node: Node): string {
    const size = two ? `${bytes(node.before)} → ${bytes(node.after)} (${signedBytes(node.after - node.before)})` : bytes(node.after);
    return [node.name, node.type, size, node.note].filter(Boolean).join("\n");
  }

  return {
    element,
    show(node: Node) {
      current = node;
      draw(node);
    },
  };
}

function shown(node: Node, levels: number): Shown {
  const children = levels ? node.children.map((child) => shown(child, levels - 1)) : [];
  return { node, children };
}

function caption(one: Rectangle, node: Node): HTMLElement | null {
  const [width, height] = [one.x1 - one.x0 - PADDING, one.y1 - one.y0];
  if (width < 24 || height < 15) return null;
  const written = bytes(area(node));
  const below = height > 34 && written.length * LETTER <= width; // half a number would be a wrong one
  const beside = one.children && (node.name.length + 1 + written.length) * LETTER <= width;
  const size = below || beside ? h("small", {}, written) : null;
  return h("span", {}, node.name, size && " ", size);
}

function roomy(one: Rectangle): boolean {
  return Boolean(one.children) && one.x1 - one.x0 > 40 && one.y1 - one.y0 > 2 * HEAD;
}

function visible(one: Rectangle): boolean {
  return one.x1 - one.x0 >= SMALLEST && one.y1 - one.y0 >= SMALLEST;
}

function put(element: HTMLElement, one: Rectangle): void {
  element.style.left = `${one.x0}px`;
  element.style.top = `${one.y0}px`;
  element.style.width = `${one.x1 - one.x0}px`;
  element.style.height = `${one.y1 - one.y0}px`;
}
