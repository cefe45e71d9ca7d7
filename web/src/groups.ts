// A scope as a tree: by module path where the file has it, and never more than a page at a time.

import type { Leaf, Scope } from "./scope";

/** Items of a group that are drawn one by one. */
const PAGE = 36;
/** How many groups more than that become, and how many items the smallest of them has. */
const PAGES = 14;
const SMALLEST = 10;

export interface Group {
  title: string;
  sub: string;
  children: Item[];
  parent: Group | null;
}

export type Item = Group | Leaf;

export function isGroup(item: Item): item is Group {
  return "children" in item;
}

export function leaves(item: Item): Leaf[] {
  return isGroup(item) ? item.children.flatMap(leaves) : [item];
}

export function grouped(scope: Scope): Group {
  const root: Group = { title: scope.title, sub: "", children: byPath(scope.leaves, 0), parent: null };
  root.children = pages(root.children, scope.unit);
  adopt(root);
  return root;
}

/** Neighbours that come from the same call make a group, unless that would be all there is. */
function byPath(all: Leaf[], depth: number): Item[] {
  const runs: Leaf[][] = [];
  for (const leaf of all) {
    const run = runs.at(-1);
    if (run && leaf.path[depth] !== undefined && run[0]!.path[depth] === leaf.path[depth]) run.push(leaf);
    else runs.push([leaf]);
  }
  if (runs.length === 1 && all.length > 1) return byPath(all, depth + 1);
  return runs.map((run) => (run.length === 1 ? run[0]! : named(run, depth)));
}

function named(run: Leaf[], depth: number): Group {
  const children = byPath(run, depth + 1);
  return { title: run[0]!.path[depth]!, sub: "", children, parent: null };
}

/** At most `PAGE` items; more are put together in runs, delegates left standing if they are few. */
function pages(items: Item[], unit: string): Item[] {
  for (const item of items) if (isGroup(item)) item.children = pages(item.children, unit);
  if (items.length <= PAGE) return items;
  const standing = items.filter(isDelegate).length <= PAGE / 3 ? isDelegate : () => false;
  const size = Math.max(SMALLEST, Math.ceil(items.length / PAGES));
  const result: Item[] = [];
  let run: Item[] = [];
  const flush = () => {
    if (run.length) result.push(run.length === 1 ? run[0]! : page(run, unit));
    run = [];
  };
  for (const item of items) {
    if (standing(item)) {
      flush();
      result.push(item);
      continue;
    }
    run.push(item);
    if (run.length >= size) flush();
  }
  flush();
  return result.length < items.length ? pages(result, unit) : result;
}

function isDelegate(item: Item): boolean {
  return !isGroup(item) && item.kind === "delegate";
}

function page(run: Item[], unit: string): Group {
  const all = run.flatMap(leaves);
  const title = `${unit}s ${all[0]!.at} – ${all.at(-1)!.at}`;
  return { title, sub: common(all), children: pages(run, unit), parent: null };
}

/** What a run is mostly made of: "12 aten::add.out, 7 aten::mul.out". */
export function common(all: Leaf[]): string {
  const counts = new Map<string, number>();
  for (const leaf of all) counts.set(leaf.label, (counts.get(leaf.label) ?? 0) + 1);
  const ranked = [...counts].sort(([, a], [, b]) => b - a).slice(0, 2);
  return ranked.map(([label, times]) => `${times} ${label}`).join(", ");
}

function adopt(group: Group): void {
  group.sub ||= common(leaves(group));
  for (const child of group.children) {
    if (!isGroup(child)) continue;
    child.parent = group;
    adopt(child);
  }
}

/** The group that shows a leaf. */
export function home(group: Group, at: number): Group {
  for (const child of group.children) {
    if (isGroup(child) && leaves(child).some((leaf) => leaf.at === at)) return home(child, at);
  }
  return group;
}
