// Tabs as the ARIA practices describe them; a panel is made when it is first looked at.

import { button, fresh, h } from "./dom";
import { roving } from "./roving";

export interface Tab {
  title: string;
  make: () => HTMLElement;
}

export interface Tabs {
  element: HTMLElement;
  show: (title: string) => void;
}

export function tabs(label: string, all: Tab[]): Tabs {
  const list = h("div", { class: "tabs", role: "tablist", "aria-label": label });
  const panels = h("div", { class: "panels" });
  const made = all.map((tab) => pair(tab));
  for (const { tab, panel } of made) {
    list.append(tab);
    panels.append(panel);
  }
  roving(list, "[role=tab]");
  list.addEventListener("focusin", (event) => {
    const at = made.findIndex(({ tab }) => tab === event.target);
    if (at >= 0) show(at);
  });
  function show(at: number): void {
    made.forEach(({ tab, panel }, i) => {
      tab.setAttribute("aria-selected", String(i === at));
      tab.tabIndex = i === at ? 0 : -1;
      panel.hidden = i !== at;
    });
    const { panel } = made[at]!;
    if (!panel.hasChildNodes()) panel.append(all[at]!.make());
  }
  function pair({ title }: Tab) {
    const id = fresh("tab");
    const panel = h("div", { id: `${id}-panel`, role: "tabpanel", "aria-labelledby": id });
    const attributes = { id, role: "tab", "aria-controls": panel.id };
    const tab = button(title, () => show(made.findIndex((one) => one.tab === tab)), attributes);
    return { tab, panel };
  }
  show(0);
  return {
    element: h("div", {}, list, panels),
    show: (title) => show(Math.max(0, all.findIndex((tab) => tab.title === title))),
  };
}
