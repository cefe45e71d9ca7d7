// Tables that sort, page and filter. Rows are made only for the page that is shown.

import { append, button, h, set, type Child } from "./dom";
import { count } from "./format";

export interface Column<Row> {
  title: string;
  cell: (row: Row) => Child | Child[];
  /** What it is sorted by; a column without it cannot be sorted by. */
  by?: (row: Row) => number | string;
  numeric?: boolean;
  class?: string;
}

export interface Options<Row> {
  caption: string;
  /** A heading says the same: the caption is for screen readers only. */
  headed?: boolean;
  page?: number;
  rowClass?: (row: Row) => string;
  empty?: string;
}

export interface TableView<Row> {
  element: HTMLElement;
  show: (rows: Row[]) => void;
}

export function table<Row>(
  columns: Column<Row>[],
  rows: Row[],
  options: Options<Row>,
): TableView<Row> {
  const size = options.page ?? 50;
  const body = h("tbody");
  const foot = h("div", { class: "pager" });
  const heads = columns.map((column, at) => head(column, at));
  const caption = h("caption", { class: options.headed ? "unseen" : undefined }, options.caption);
  const grid = h("table", {}, caption, h("thead", {}, h("tr", {}, ...heads)), body);
  let shown = rows;
  let page = 0;
  let sorted = -1;
  let descending = false;

  function head(column: Column<Row>, at: number): HTMLElement {
    const kind = column.numeric ? "number" : column.class;
    const title = column.by ? button(column.title, () => sort(at), { class: "sort" }) : column.title;
    return h("th", { scope: "col", class: kind }, title);
  }

  function sort(at: number): void {
    descending = sorted === at ? !descending : Boolean(columns[at]!.numeric);
    sorted = at;
    heads.forEach((cell, i) =>
      set(cell, {
        "aria-sort": i === at ? (descending ? "descending" : "ascending") : undefined,
      }),
    );
    page = 0;
    draw();
  }

  function ordered(): Row[] {
    const by = columns[sorted]?.by;
    if (!by) return shown;
    const sign = descending ? -1 : 1;
    return [...shown].sort((a, b) => {
      const [one, other] = [by(a), by(b)];
      return sign * (one < other ? -1 : one > other ? 1 : 0);
    });
  }

  function draw(): void {
    const all = ordered();
    const from = page * size;
    body.replaceChildren(...all.slice(from, from + size).map(line));
    if (!all.length) body.append(nothing());
    drawPager(all.length, from);
  }

  function nothing(): HTMLElement {
    const text = options.empty ?? "none";
    return h("tr", {}, h("td", { colspan: columns.length, class: "quiet" }, text));
  }

  function line(row: Row): HTMLElement {
    const cells = columns.map((column) => {
      const cell = h("td", { class: column.numeric ? "number" : column.class });
      const content = column.cell(row);
      append(cell, Array.isArray(content) ? content : [content]);
      return cell;
    });
    return h("tr", { class: options.rowClass?.(row) || undefined }, ...cells);
  }

  function drawPager(total: number, from: number): void {
    foot.hidden = total <= size;
    const last = Math.min(from + size, total);
    foot.replaceChildren(
      button("Previous", () => turn(-1), { disabled: page === 0 }),
      h("span", { role: "status" }, `${count(from + 1)} – ${count(last)} of ${count(total)}`),
      button("Next", () => turn(1), { disabled: last === total }),
    );
  }

  function turn(by: number): void {
    page += by;
    draw();
  }

  draw();
  const region = { class: "scroll", tabindex: 0, role: "group", "aria-label": options.caption };
  return {
    element: h("div", { class: "table" }, h("div", region, grid), foot),
    show(next) {
      shown = next;
      page = 0;
      draw();
    },
  };
}
