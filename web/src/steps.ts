// The instructions, or a payload's operations, as a list.

import { button, h, type Child } from "./dom";
import { count, counted, time } from "./format";
import type { Leaf, Port, Scope } from "./scope";
import { table, type Column } from "./table";

const SHOWN = 4;
const MARKS = { same: "", added: "+", removed: "−", mixed: "~" };

export function stepList(scope: Scope, all: Leaf[], two: boolean, go: (leaf: Leaf) => void): HTMLElement {
  const columns: Column<Leaf>[] = [
    { title: "#", cell: (leaf) => count(leaf.at), by: (leaf) => leaf.at, numeric: true },
    { title: "what", cell: (leaf) => what(leaf, () => go(leaf)), by: (leaf) => leaf.label, class: "name" },
    { title: "takes", cell: (leaf) => values(leaf.stateReads, leaf.reads), class: "wide" },
    { title: "gives", cell: (leaf) => values(leaf.stateWrites, leaf.writes), class: "wide" },
  ];
  if (two) columns.unshift({ title: "±", cell: (leaf) => MARKS[leaf.fate], by: (leaf) => leaf.fate });
  if (all.some((leaf) => leaf.path.length)) {
    columns.push({ title: "source", cell: (leaf) => leaf.path.join(" › "), by: (leaf) => leaf.path.join(), class: "wide" });
  }
  if (all.some((leaf) => leaf.time)) {
    columns.push({
      title: "time",
      cell: (leaf) => (leaf.time ? time(leaf.time[0]) : ""),
      by: (leaf) => leaf.time?.[0] ?? -1,
      numeric: true,
    });
  }
  return table(columns, all, {
    caption: `${counted(all.length, scope.unit)} of ${scope.title}`,
    page: 50,
    rowClass: (leaf) => (two ? `fate-${leaf.fate}` : ""),
  }).element;
}

function what(leaf: Leaf, go: () => void): Child[] {
  const kind = leaf.kind === "kernel" || leaf.kind === "op" ? null : h("span", { class: `badge ${leaf.kind}` }, leaf.kind);
  return [button(h("code", {}, leaf.label), go, { class: "link" }), kind && " ", kind];
}

function values(states: string[], others: Port[]): Child {
  const named = others.filter((one) => !states.includes(one.label));
  const all = [...states.map((name) => `state ${name}`), ...named.map((one) => `${one.label} ${one.type}`)];
  const shown = all.slice(0, SHOWN).map((one) => h("li", {}, h("code", {}, one)));
  if (all.length > SHOWN) shown.push(h("li", { class: "quiet" }, `and ${all.length - SHOWN} more`));
  return h("ul", { class: "plain" }, ...shown);
}
