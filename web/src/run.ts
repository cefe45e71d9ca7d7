// What runs: the graph, opened group by group, the list of instructions, and what each does.

import { choice } from "./choice";
import { button, h } from "./dom";
import { details } from "./details";
import { failure } from "./failure";
import { fates } from "./fates";
import { graphView } from "./graph";
import { grouped, home, isGroup, leaves, type Group, type Item } from "./groups";
import { methodNames } from "./memory";
import { methodScope } from "./method_scope";
import type { Leaf, Scope } from "./scope";
import { search } from "./search";
import { stepList } from "./steps";
import { table } from "./table";
import { count } from "./format";
import { failed, type DelegateGraph, type MethodData, type ReportData } from "./types";

export function runView(report: ReportData): HTMLElement {
  const names = methodNames(report.files);
  if (!names.length) return h("p", { class: "quiet" }, "The file has no methods.");
  const page = h("div");
  const place = h("div");
  const last = report.files.length - 1;
  let [method, file] = [0, last];
  const files = report.files.map((one, at) => `${at ? "after" : "before"}: ${one.name}`);
  const sides = choice("file", last ? files : [], (at) => draw(method, at));
  page.append(h("div", { class: "choices" }, choice("method", names, (at) => draw(at, file)).element, sides.element), place);
  function has(inFile: number, at: number): boolean {
    const { methods } = report.files[inFile]!;
    return failed(methods) || methods.some((one) => one.name === names[at]);
  }
  function draw(nextMethod: number, nextFile: number): void {
    [method, file] = [nextMethod, has(nextFile, nextMethod) ? nextFile : last - nextFile];
    sides.set(file);
    place.replaceChildren(methodView(report, file, names[method]!));
  }
  draw(method, file);
  return page;
}

function methodView(report: ReportData, file: number, name: string): HTMLElement {
  const { methods } = report.files[file]!;
  if (failed(methods)) return failure("The methods cannot be read", methods);
  const method = methods.find((one) => one.name === name);
  if (!method) return h("p", { class: "quiet" }, `This file has no method ${name}.`);
  for (const part of [method.run, method.values]) {
    if (failed(part)) return failure("The instructions cannot be drawn", part);
  }
  const scope = methodScope(method, fates(report, file, name), file === 0 ? report.times : undefined);
  return h("div", {}, explorer(scope, report.files.length > 1), unreadable(method));
}

interface Place {
  scope: Scope;
  group: Group;
  /** Of the scope. */
  title: string;
  /** The delegate that this scope is inside of. */
  within: Place | null;
}

function explorer(root: Scope, two: boolean): HTMLElement {
  const trail = h("nav", { class: "trail", "aria-label": "Where in the program" });
  const about = h("div", { class: "details", role: "region", "aria-label": "Details", "aria-live": "polite" });
  const list = h("div");
  const trees = new Map<Scope, Group>();
  const graph = graphView({ choose: describe, open, up });
  let at: Place = { scope: root, group: tree(root), title: root.title, within: null };

  function tree(scope: Scope): Group {
    const found = trees.get(scope) ?? grouped(scope);
    trees.set(scope, found);
    return found;
  }

  function describe(item: Item): void {
    about.replaceChildren(details(at.scope, item, open, (to) => show(placeOf(at, to), at.scope.leaves[to])));
  }

  function open(item: Item): void {
    if (isGroup(item)) return show({ ...at, group: item }, undefined, true);
    if (!at.scope.leaves.includes(item)) return;
    const inner = item.inner()[0];
    if (inner) return show(enter(at, item, inner), undefined, true);
    if (!leaves(at.group).includes(item)) show(placeOf(at, item.at), item, true);
  }

  function enter(from: Place, leaf: Leaf, inner: Scope): Place {
    const within = placeOf(from, leaf.at);
    return { scope: inner, group: tree(inner), title: `${leaf.label} ${inner.title}`, within };
  }

  function placeOf(from: Place, leaf: number): Place {
    return { ...from, group: home(tree(from.scope), leaf) };
  }

  function up(): void {
    const parent = at.group.parent;
    if (parent) show({ ...at, group: parent }, undefined, true);
    else if (at.within) show(at.within, undefined, true);
  }

  function show(place: Place, chosen?: Leaf, focus = false): void {
    at = place;
    graph.show(place.scope, place.group, chosen);
    trail.replaceChildren(...crumbs(place));
    list.replaceChildren(stepList(place.scope, leaves(place.group), two, (leaf) => show(placeOf(at, leaf.at), leaf)));
    if (chosen) describe(chosen);
    else about.replaceChildren(hint(place.scope));
    if (focus) graph.focus();
  }

  function crumbs(place: Place): HTMLElement[] {
    const way: HTMLElement[] = [];
    for (let one: Place | null = place; one; one = one.within) {
      const here = one;
      for (let group: Group | null = here.group; group; group = group.parent) {
        const target = group;
        const current = here === place && target === place.group;
        const title = target.parent ? target.title : here.title;
        way.unshift(button(title, () => show({ ...here, group: target }), { "aria-current": current ? "true" : undefined }));
      }
    }
    return way;
  }

  function follow(way: { scope: Scope; leaf: Leaf }[]): void {
    let place: Place = { scope: root, group: tree(root), title: root.title, within: null };
    way.forEach(({ scope, leaf }, i) => {
      if (i) place = enter(place, way[i - 1]!.leaf, scope);
      place = placeOf(place, leaf.at);
    });
    show(place, way.at(-1)!.leaf);
  }

  const key = h("div", {}, legend(two, root.leaves.some((leaf) => leaf.time)));
  const side = h("div", { class: "side" }, search(() => root, follow), about);
  const page = h("div", {}, trail, h("div", { class: "split" }, h("div", { class: "main" }, graph.element, key), side), list);
  show(at);
  return page;
}

function hint(scope: Scope): HTMLElement {
  const empty = `There is no ${scope.unit}: what goes out is what came in, or a constant.`;
  return h("p", { class: "quiet" }, scope.leaves.length ? "Choose a node to see what it takes and gives." : empty);
}

function legend(two: boolean, timed: boolean): HTMLElement {
  const entries: [string, string][] = [
    ["node-kernel", "kernel or operation"],
    ["node-delegate", "delegate"],
    ["node-group", "group"],
    ["node-state", "state"],
    ["node-port", "value from or for outside"],
  ];
  if (two) entries.push(["fate-added", "only after"], ["fate-removed", "only before"], ["fate-mixed", "differs inside"]);
  if (timed) entries.push(["heat", "share of the time"]);
  const items = entries.map(([name, meaning]) => h("li", {}, h("span", { class: `swatch ${name}` }), meaning));
  return h("ul", { class: "legend", "aria-label": "Colours" }, ...items);
}

/** Delegates whose inside has no graph: what is known of them instead. */
function unreadable(method: MethodData): HTMLElement | null {
  const closed = method.delegates.map((one, index) => ({ one, index })).filter(({ one }) => !one.functions);
  if (!closed.length) return null;
  return h("section", {}, h("h2", {}, "Delegates without a graph"), ...closed.map(({ one, index }) => closedDelegate(one, index)));
}

function closedDelegate(one: DelegateGraph, index: number): HTMLElement {
  const head = h("h3", {}, `${one.backend} [${index}]`);
  if (one.error) return h("div", {}, head, h("p", { class: "quiet" }, one.error));
  const rows = (one.kinds ?? []).flatMap((kind) => Object.entries(kind.operations));
  rows.sort(([, a], [, b]) => b - a);
  const columns = [
    { title: "operation", cell: (row: [string, number]) => h("code", {}, row[0]), by: (row: [string, number]) => row[0] },
    { title: "times", cell: (row: [string, number]) => count(row[1]), by: (row: [string, number]) => row[1], numeric: true },
  ];
  const caption = `${one.format}: kinds of operation, of which the format's reader knows no more`;
  return h("div", {}, head, table(columns, rows, { caption, page: 20 }).element);
}
