// Making elements. Text from a file goes in as text nodes and attribute values, never as markup.

export type Child = Node | string | number | null | undefined | false;
type Attributes = Record<string, string | number | boolean | undefined>;

const SVG = "http://www.w3.org/2000/svg";

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  set(element, attributes);
  append(element, children);
  return element;
}

export function s<K extends keyof SVGElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS(SVG, tag) as SVGElementTagNameMap[K];
  set(element, attributes);
  append(element, children);
  return element;
}

export function set(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    const state = name.startsWith("aria-"); // a word, not presence or absence
    if (value === undefined || (value === false && !state)) element.removeAttribute(name);
    else element.setAttribute(name, value === true && !state ? "" : String(value));
  }
}

export function append(element: Element, children: Child[]): void {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    element.append(typeof child === "number" ? String(child) : child);
  }
}

export function button(label: Child, onClick: () => void, attributes: Attributes = {}) {
  const element = h("button", { type: "button", ...attributes }, label);
  element.addEventListener("click", onClick);
  return element;
}

export function section(title: string, ...children: Child[]): HTMLElement {
  const heading = h("h2", {}, title);
  return h("section", {}, heading, ...children);
}

let last = 0;

/** An id that no other element of the page has. */
export function fresh(prefix: string): string {
  last += 1;
  return `${prefix}-${last}`;
}
