// A run: where the time went, per instruction and per operation inside delegates.

import { h, section, type Child } from "./dom";
import { count, share, time } from "./format";
import { instructionName } from "./names";
import { table } from "./table";
import { failed, type MethodData, type ReportData, type Times } from "./types";

interface Row {
  method: string;
  place: string;
  name: string;
  kind: string;
  total: number;
  runs: number;
}

export function timesView(report: ReportData, times: Times): HTMLElement {
  const { methods } = report.files[0]!;
  const known = failed(methods) ? [] : methods;
  const rows = known.flatMap((method) => methodRows(method, times.methods[method.name] ?? {}));
  const outer = rows.filter((row) => row.kind !== "operation");
  const inner = rows.filter((row) => row.kind === "operation");
  const page = h("div");
  if (!rows.length && !Object.keys(times.elsewhere).length) {
    page.append(h("p", { class: "quiet" }, "The trace has no event that belongs to this program."));
  }
  if (outer.length) page.append(ranking("Instructions", outer));
  if (inner.length) page.append(ranking("Operations inside delegates", inner));
  const rest = Object.entries(times.elsewhere).map(([name, [total, runs]]) => ({ method: "", place: "", name, kind: "event", total, runs }));
  if (rest.length) page.append(ranking("Other events", rest, "Conversions that the engine put in, and events that name nothing in this program"));
  return page;
}

function methodRows(method: MethodData, measured: Times["methods"][string]): Row[] {
  return Object.entries(measured).map(([place, [total, runs]]) => {
    const [first = "", ...op] = place.split("/");
    const row = { method: method.name, place, total, runs };
    if (op.length) return { ...row, name: op.join("/"), kind: "operation" };
    const delegated = !failed(method.run) && method.run.steps[Number(first)]?.[0] === "delegate";
    return { ...row, name: instructionName(method, Number(first)), kind: delegated ? "delegate" : "kernel" };
  });
}

function ranking(title: string, rows: Row[], what = title): HTMLElement {
  const whole = rows.reduce((sum, row) => sum + row.total, 0);
  const longest = Math.max(...rows.map((row) => row.total));
  const columns = [
    { title: "what", cell: (row: Row) => named(row), by: (row: Row) => row.name, class: "name" },
    { title: "method", cell: (row: Row) => row.method, by: (row: Row) => row.method },
    { title: "beside the longest", cell: (row: Row) => bar(row.total / longest), class: "bar-cell" },
    { title: "per run", cell: (row: Row) => time(row.total / row.runs), by: (row: Row) => row.total / row.runs, numeric: true },
    { title: "runs", cell: (row: Row) => count(row.runs), by: (row: Row) => row.runs, numeric: true },
    { title: "in all", cell: (row: Row) => time(row.total), by: (row: Row) => row.total, numeric: true },
    { title: "share", cell: (row: Row) => share(row.total, whole), by: (row: Row) => row.total, numeric: true },
  ];
  const ranked = [...rows].sort((a, b) => b.total - a.total);
  return section(title, table(columns, ranked, { caption: `${what}: ${time(whole)} in all`, page: 30 }).element);
}

function named(row: Row): Child[] {
  const place = row.kind === "operation" ? `delegate ${row.place.split("/")[0]}` : row.place && `instruction ${row.place}`;
  return [h("code", {}, row.name), place && h("small", { class: "note" }, place)];
}

function bar(part: number): HTMLElement {
  const fill = h("span", { class: "bar", "aria-hidden": "true" });
  fill.style.width = `${Math.max(1, 100 * part)}%`;
  return fill;
}
