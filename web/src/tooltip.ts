// What appears beside the pointer. Everything in it also stands in a table.

import { h } from "./dom";

const DISTANCE = 14;

const element = h("div", { class: "tooltip", "aria-hidden": "true", hidden: true });

export const tip = {
  show(event: PointerEvent, title: string, lines: string[]): void {
    if (!element.isConnected) document.body.append(element);
    element.replaceChildren(h("b", {}, title), ...lines.map((line) => h("div", {}, line)));
    element.hidden = false;
    place(event);
  },
  hide(): void {
    element.hidden = true;
  },
};

function place(event: PointerEvent): void {
  const { innerWidth, innerHeight } = window;
  const { offsetWidth, offsetHeight } = element;
  const right = event.clientX + DISTANCE + offsetWidth < innerWidth;
  const below = event.clientY + DISTANCE + offsetHeight < innerHeight;
  const x = right ? event.clientX + DISTANCE : event.clientX - DISTANCE - offsetWidth;
  const y = below ? event.clientY + DISTANCE : event.clientY - DISTANCE - offsetHeight;
  element.style.left = `${Math.max(0, x)}px`;
  element.style.top = `${Math.max(0, y)}px`;
}
