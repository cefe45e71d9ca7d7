// Times of a trace, for items of the graph.

import { isGroup, leaves, type Item } from "./groups";
import type { Scope } from "./scope";

/** Microseconds per run of everything in an item, or null where nothing of it was measured. */
export function timeOf(item: Item | null): number | null {
  if (!item) return null;
  if (!isGroup(item)) return item.time?.[0] ?? null;
  const measured = leaves(item).flatMap((leaf) => (leaf.time ? [leaf.time[0]] : []));
  return measured.length ? measured.reduce((sum, time) => sum + time, 0) : null;
}

export function scopeTime(scope: Scope): number {
  return scope.leaves.reduce((sum, leaf) => sum + (leaf.time?.[0] ?? 0), 0);
}
