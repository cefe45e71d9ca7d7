// Finding operations by anything that is written on them, inside payloads too.

import { button, fresh, h } from "./dom";
import { counted } from "./format";
import type { Leaf, Scope } from "./scope";

const MOST = 60;
const PAUSE = 120; // milliseconds without a key before it looks

interface Entry {
  /** The scopes on the way to the leaf, the method's first. */
  way: { scope: Scope; leaf: Leaf }[];
  text: string;
}

export function search(root: () => Scope, go: (way: Entry["way"]) => void): HTMLElement {
  const id = fresh("search");
  const input = h("input", { id, type: "search", autocomplete: "off", spellcheck: "false", placeholder: "operator, value, state, source …" });
  const results = h("ol", { class: "results" });
  const status = h("span", { class: "quiet", role: "status" });
  let entries: Entry[] = [];
  let of: Scope | null = null;
  let timer = 0;
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = window.setTimeout(look, PAUSE);
  });

  function look(): void {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    if (of !== root()) {
      of = root();
      entries = [...collect(of, [])];
    }
    const found = words.length ? entries.filter((entry) => words.every((word) => entry.text.includes(word))) : [];
    status.textContent = words.length ? counted(found.length, "match").replace("matchs", "matches") : "";
    results.replaceChildren(...found.slice(0, MOST).map(line));
    if (found.length > MOST) results.append(h("li", { class: "quiet" }, `and ${found.length - MOST} more`));
  }

  function line(entry: Entry): HTMLElement {
    const { scope, leaf } = entry.way.at(-1)!;
    const where = entry.way.length > 1 ? `in ${entry.way[0]!.leaf.label}, ` : "";
    const label = h("span", {}, h("b", {}, leaf.label), ` ${leaf.writes[0]?.label ?? ""} `, h("small", {}, `${where}${scope.unit} ${leaf.at}`));
    return h("li", {}, button(label, () => go(entry.way), { class: "link" }));
  }

  return h("div", { class: "search", role: "search" }, h("label", { for: id }, "Search"), input, status, results);
}

function* collect(scope: Scope, way: Entry["way"]): Generator<Entry> {
  for (const leaf of scope.leaves) {
    const here = [...way, { scope, leaf }];
    yield { way: here, text: textOf(leaf) };
    for (const inner of leaf.inner()) yield* collect(inner, here);
  }
}

function textOf(leaf: Leaf): string {
  const values = [...leaf.reads, ...leaf.writes].flatMap((one) => [one.label, one.type]);
  const words = [leaf.label, ...values, ...leaf.constants.flat(), ...leaf.stateReads, ...leaf.stateWrites, ...leaf.path, ...leaf.frames];
  return words.join(" ").toLowerCase();
}
