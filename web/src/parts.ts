// The tree of parts of one file, or of two joined by name.

import type { Change, Part } from "./types";

export type Fate = "same" | "added" | "removed" | "grown" | "shrunk" | "content";

export interface Node {
  name: string;
  kind: string;
  type: string;
  note: string;
  offset: number;
  before: number;
  after: number;
  fate: Fate;
  children: Node[];
  parent: Node | null;
}

/** The larger of the two sizes: what a tile's area stands for. */
export function area(node: Node): number {
  return Math.max(node.before, node.after);
}

export function single(part: Part, parent: Node | null = null): Node {
  const node = made(part, part.s, part.s, "same", parent);
  node.children = (part.c ?? []).map((child) => single(child, node));
  return node;
}

export function joined(before: Part, after: Part, changed: Set<string>): Node {
  return join(before, after, changed, null);
}

/** Names of the tensors that have other content, by what `diff` found. */
export function changedNames(changes: Change[]): Set<string> {
  const tensors = changes.filter((change) => change.kind === "changed" && change.distance);
  return new Set(tensors.map((change) => change.where.at(-1) ?? ""));
}

function join(
  before: Part | undefined,
  after: Part | undefined,
  changed: Set<string>,
  parent: Node | null,
): Node {
  const part = (after ?? before)!;
  const fate = fateOf(before, after, changed.has(part.n) && !part.c);
  const node = made(part, before?.s ?? 0, after?.s ?? 0, fate, parent);
  const theirs = keyed(after?.c ?? []);
  const ours = keyed(before?.c ?? []);
  for (const [key, child] of ours) node.children.push(join(child, theirs.get(key), changed, node));
  for (const [key, child] of theirs) {
    if (!ours.has(key)) node.children.push(join(undefined, child, changed, node));
  }
  return node;
}

function fateOf(before: Part | undefined, after: Part | undefined, content: boolean): Fate {
  if (!before) return "added";
  if (!after) return "removed";
  if (before.s !== after.s) return before.s < after.s ? "grown" : "shrunk";
  return content ? "content" : "same";
}

/** Children by name; of several with one name, by which of them it is. */
function keyed(parts: Part[]): Map<string, Part> {
  const found = new Map<string, Part>();
  const seen = new Map<string, number>();
  for (const part of parts) {
    const times = seen.get(part.n) ?? 0;
    seen.set(part.n, times + 1);
    found.set(JSON.stringify([part.n, times]), part);
  }
  return found;
}

function made(part: Part, before: number, after: number, fate: Fate, parent: Node | null): Node {
  const { n: name, k: kind, t: type = "", x: note = "", o: offset } = part;
  return { name, kind, type, note, offset, before, after, fate, children: [], parent };
}
