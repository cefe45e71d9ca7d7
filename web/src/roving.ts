// One tab stop for many things: arrow keys move among them, Home and End to the ends.

const FORWARD = ["ArrowRight", "ArrowDown"];
const BACKWARD = ["ArrowLeft", "ArrowUp"];

type Item = HTMLElement | SVGElement;

export function roving(container: Element, selector: string): void {
  const items = () => [...container.querySelectorAll<Item>(selector)];
  const current = items().find((item) => item.tabIndex === 0) ?? items()[0];
  items().forEach((item) => item.setAttribute("tabindex", item === current ? "0" : "-1"));
  if (container.hasAttribute("data-roving")) return;
  container.setAttribute("data-roving", "");
  container.addEventListener("keydown", (event) => {
    const key = (event as KeyboardEvent).key;
    const all = items();
    const at = all.indexOf(document.activeElement as Item);
    if (at < 0) return;
    const next = target(key, at, all.length);
    if (next === undefined) return;
    event.preventDefault();
    move(all, next);
  });
  container.addEventListener("focusin", (event) => {
    const all = items();
    const at = all.indexOf(event.target as Item);
    if (at >= 0) all.forEach((item, i) => item.setAttribute("tabindex", i === at ? "0" : "-1"));
  });
}

function target(key: string, at: number, length: number): number | undefined {
  if (FORWARD.includes(key)) return (at + 1) % length;
  if (BACKWARD.includes(key)) return (at + length - 1) % length;
  if (key === "Home") return 0;
  return key === "End" ? length - 1 : undefined;
}

function move(items: Item[], to: number): void {
  items.forEach((item, i) => item.setAttribute("tabindex", i === to ? "0" : "-1"));
  items[to]?.focus();
}
