// Times of a trace, for items of the graph.

import { isGroup, leaves, type Item } from "./groups";
import type { GraphNode } from "./level";
import type { Scope } from "./scope";

/** Microseconds per run of everything in an item, or null where nothing of it was measured. */
export function timeOf(item: Item | null): number | null {
  if (!item) return null;
  if (!isGroup(item)) return item.time?.[0] ?? null;
  const measured = leaves(item).flatMap((leaf) => (leaf.time ? [leaf.time[0]] : []));
  return measured.length ? measured.reduce((sum, time) => sum + time, 0) : null;
}

/** The same for a node: a port stands for a value, which takes no time. */
export function nodeTime(node: GraphNode): number | null {
  return node.kind === "port" ? null : timeOf(node.item);
}

export function scopeTime(scope: Scope): number {
  return scope.leaves.reduce((sum, leaf) => sum + (leaf.time?.[0] ?? 0), 0);
}
