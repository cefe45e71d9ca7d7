// Dark and light: the system's choice until the reader makes one.

import { button, h } from "./dom";

const CHOICES = ["system", "light", "dark"] as const;

export function themeSwitch(): HTMLElement {
  const group = h("div", { class: "choice", role: "group", "aria-label": "Colours" });
  for (const choice of CHOICES) {
    const one = button(choice, () => choose(choice), { "aria-pressed": choice === "system" });
    group.append(one);
  }
  function choose(choice: (typeof CHOICES)[number]): void {
    if (choice === "system") delete document.documentElement.dataset["theme"];
    else document.documentElement.dataset["theme"] = choice;
    [...group.children].forEach((child) =>
      child.setAttribute("aria-pressed", String(child.textContent === choice)),
    );
  }
  return group;
}
