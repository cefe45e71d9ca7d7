// A row of buttons of which one is pressed; nothing where there is nothing to choose.

import { button, h } from "./dom";

export interface Choice {
  element: HTMLElement;
  set: (at: number) => void;
}

export function choice(label: string, names: string[], onChoose: (at: number) => void): Choice {
  const element = h("div", { class: "choice labelled", role: "group", "aria-label": label });
  element.hidden = names.length < 2;
  element.append(h("span", { "aria-hidden": "true" }, label));
  const buttons = names.map((name, at) => button(name, () => pick(at)));
  element.append(...buttons);
  mark(0);

  function mark(at: number): void {
    buttons.forEach((one, i) => one.setAttribute("aria-pressed", String(i === at)));
  }
  function pick(at: number): void {
    mark(at);
    onChoose(at);
  }
  return { element, set: mark };
}
