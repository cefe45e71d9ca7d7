// What is known of the node that was clicked.

import { button, h, type Child } from "./dom";
import { count, counted, share, time } from "./format";
import { opens } from "./graph";
import { common, isGroup, leaves, type Group, type Item } from "./groups";
import type { Leaf, Scope, Use } from "./scope";
import { scopeTime, timeOf } from "./times";

const SHOWN = 24;

export function details(scope: Scope, item: Item, open: (item: Item) => void, go: (at: number) => void): HTMLElement {
  const inside = opens(item) && button("Open", () => open(item), { class: "primary" });
  const body = isGroup(item) ? groupFacts(item) : leafFacts(scope, item, go);
  const title = h("h2", {}, isGroup(item) ? item.title : item.label);
  return h("div", {}, title, inside, spent(scope, item), body);
}

function spent(scope: Scope, item: Item): Child {
  const measured = timeOf(item);
  if (measured === null) return null;
  const runs = isGroup(item) ? "" : ` (mean of ${counted(item.time![1], "run")})`;
  return h("p", {}, h("b", {}, time(measured)), `, ${share(measured, scopeTime(scope))} of the time measured here${runs}`);
}

function groupFacts(group: Group): HTMLElement {
  const all = leaves(group);
  return facts([
    ["holds", `${count(all.length)} in ${counted(group.children.length, "node")}`],
    ["from, to", `${all[0]!.at} – ${all.at(-1)!.at}`],
    ["mostly", common(all)],
  ]);
}

function leafFacts(scope: Scope, leaf: Leaf, go: (at: number) => void): HTMLElement {
  return facts([
    [scope.unit, count(leaf.at)],
    ["inside", leaf.note],
    ["in", list(leaf.reads.map((use) => read(scope, use, go)))],
    ["constants", list(leaf.constants.map(([name, text]) => [h("span", { class: "term" }, name), " ", h("code", {}, text)]))],
    ["out", list(leaf.writes.map((one) => [h("span", { class: "term" }, one.label), " ", h("code", {}, one.type)]))],
    ["reads state", list(leaf.stateReads.map((name) => [name]))],
    ["writes state", list(leaf.stateWrites.map((name) => [name]))],
    ["source", list(leaf.frames.map((frame) => [h("code", {}, frame)]))],
    ["part of", leaf.frames.length ? "" : leaf.path.join(" › ")],
  ]);
}

function read(scope: Scope, use: Use, go: (at: number) => void): Child[] {
  const from = scope.leaves[use.from];
  const origin = from ? button(`${use.from} ${from.label}`, () => go(use.from), { class: "link" }) : null;
  const name = use.role && !["input", "output"].includes(use.role) ? `${use.role}: ${use.label}` : use.label;
  return [h("span", { class: "term" }, name), " ", h("code", {}, use.type), origin && " from ", origin];
}

function facts(all: [string, Child][]): HTMLElement {
  const rows = all.filter(([, value]) => value).flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]);
  return h("dl", { class: "facts" }, ...rows);
}

function list(items: Child[][]): HTMLElement | null {
  if (!items.length) return null;
  const rows = items.slice(0, SHOWN).map((item) => h("li", {}, ...item));
  if (items.length > SHOWN) rows.push(h("li", { class: "quiet" }, `and ${items.length - SHOWN} more`));
  return h("ul", { class: "plain" }, ...rows);
}
