// Where the bytes are: a treemap that zooms, and the same as a table.

import { button, h, type Child } from "./dom";
import { failure } from "./failure";
import { bytes, count, share, signedBytes } from "./format";
import { area, changedNames, joined, single, type Node } from "./parts";
import { table, type Column } from "./table";
import { kind, kinds } from "./kinds";
import { treemap } from "./treemap";
import { failed, type FileData, type ReportData } from "./types";

export function bytesView(report: ReportData): HTMLElement {
  const [before, after] = report.files as [FileData, FileData?];
  const broken = [before, after].find((file) => file && failed(file.sizes));
  if (broken && failed(broken.sizes)) return failure("The bytes cannot be told apart", broken.sizes);
  if (failed(before.sizes)) throw new Error("unreachable");
  if (!after || failed(after.sizes)) return zoomable(single(before.sizes), false);
  const changes = report.changes && !failed(report.changes) ? report.changes : [];
  return zoomable(joined(before.sizes, after.sizes, changedNames(changes)), true);
}

function zoomable(root: Node, two: boolean): HTMLElement {
  const trail = h("nav", { class: "trail", "aria-label": "Where in the file" });
  const map = treemap((node) => node.children.length && show(node), two);
  const rows = table(two ? [...named(), ...compared()] : [...named(), ...sized(root)], root.children, {
    caption: "Parts, the largest first",
    page: 25,
    empty: "This part has no smaller ones.",
  });
  const about = h("p", { class: "about", role: "status" });

  function named(): Column<Node>[] {
    return [
      { title: "part", cell: (node) => name(node), by: (node) => node.name, class: "wide" },
      { title: "type", cell: (node) => type(node), class: "type" },
    ];
  }

  function name(node: Node): Child[] {
    const swatch = h("span", { class: `swatch ${two ? `fate-${node.fate}` : `kind-${kind(node)}`}` });
    const label = node.children.length
      ? button(node.name, () => show(node), { class: "link" })
      : h("span", {}, node.name);
    return [h("div", { class: "keyed" }, swatch, label), node.note ? h("small", { class: "note" }, node.note) : null];
  }

  function show(node: Node): void {
    const way: Node[] = [];
    for (let at: Node | null = node; at; at = at.parent) way.unshift(at);
    trail.replaceChildren(
      ...way.map((one) =>
        button(one.name, () => show(one), { "aria-current": one === node ? "true" : undefined }),
      ),
    );
    map.show(node);
    rows.show([...node.children].sort((a, b) => area(b) - area(a)));
    about.textContent = sentence(node, root, two);
  }

  const legend = two ? FATES : kinds(root);
  const page = h(
    "div",
    { class: two ? "split even" : "split" },
    h("div", { class: "main" }, trail, about, map.element, key(legend, two ? "fate" : "kind")),
    h("div", { class: "side" }, rows.element),
  );
  show(root);
  return page;
}

function type(node: Node): Child {
  return node.type ? h("code", {}, node.type) : h("span", { class: "quiet" }, node.kind);
}

function sized(root: Node): Column<Node>[] {
  return [
    { title: "size", cell: (node) => h("span", { title: `${count(node.after)} bytes` }, bytes(node.after)), by: (node) => node.after, numeric: true },
    { title: "share of file", cell: (node) => share(node.after, root.after), by: (node) => node.after, numeric: true },
  ];
}

function compared(): Column<Node>[] {
  return [
    { title: "before", cell: (node) => (node.fate === "added" ? "" : bytes(node.before)), by: (node) => node.before, numeric: true },
    { title: "after", cell: (node) => (node.fate === "removed" ? "" : bytes(node.after)), by: (node) => node.after, numeric: true },
    { title: "change", cell: change, by: (node) => node.after - node.before, numeric: true },
  ];
}

function change(node: Node): Child {
  if (node.fate === "same") return h("span", { class: "quiet" }, "same");
  const text = node.fate === "content" ? "other content" : signedBytes(node.after - node.before);
  return h("span", { class: `text-${node.fate}` }, text);
}

function sentence(node: Node, root: Node, two: boolean): string {
  const note = node.note ? ` — ${node.note}` : "";
  if (two) return `${bytes(node.before)} before, ${bytes(node.after)} after${note}`;
  const part = node === root ? "" : `, ${share(node.after, root.after)} of the file`;
  const at = node.offset >= 0 ? `, from byte ${count(node.offset)}` : "";
  return `${bytes(node.after)} (${count(node.after)} bytes)${part}${at}${note}`;
}

const FATES: [string, string][] = [
  ["same", "same"],
  ["content", "other content"],
  ["grown", "grown"],
  ["shrunk", "shrunk"],
  ["added", "added"],
  ["removed", "removed"],
];

function key(entries: [string, string][], prefix: string): HTMLElement {
  const items = entries.map(([word, meaning]) =>
    h("li", {}, h("span", { class: `swatch ${prefix}-${word}` }), meaning),
  );
  return h("ul", { class: "legend", "aria-label": "Colours" }, ...items);
}
