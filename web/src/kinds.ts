// Kinds of parts as the legend has them: one colour each.

import type { Node } from "./parts";

const KNOWN: Record<string, string> = {
  weight: "weights of payloads",
  constant: "constants",
  initial: "initial values",
  named: "named data",
  payload: "other payload content",
  tensor: "test case tensors",
  tables: "tables",
  padding: "padding, headers",
};

/** The legend's word for a part: for one that has parts, that of the largest of them. */
export function kind(node: Node): string {
  let at = node;
  while (at.children.length) at = at.children.reduce((a, b) => (b.after > a.after ? b : a));
  return own(at);
}

function own(node: Node): string {
  const found = Object.keys(KNOWN).find((word) => node.kind.startsWith(word));
  if (found) return found;
  if (node.kind === "header") return "padding";
  if (node.kind === "flatbuffer") return "tables";
  return "payload";
}

/** The legend's words that a tree needs, with their meaning. */
export function kinds(root: Node): [string, string][] {
  const found = new Set<string>();
  const queue = [root];
  for (let node = queue.pop(); node; node = queue.pop()) {
    if (!node.children.length) found.add(own(node));
    queue.push(...node.children);
  }
  return Object.entries(KNOWN).filter(([word]) => found.has(word));
}
