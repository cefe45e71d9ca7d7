// What the file is: in numbers, findings, methods, delegates, states, what lowering decided.

import { h, section, type Child } from "./dom";
import { bytes, count, counted, share } from "./format";
import { failure } from "./failure";
import { table } from "./table";
import {
  failed,
  type BufferRecord,
  type DelegateSummary,
  type FileData,
  type Finding,
  type MethodSummary,
  type Signature,
  type StateSummary,
  type Summary,
} from "./types";

export function overview(file: FileData): HTMLElement {
  const page = h("div", { class: "overview" });
  page.append(findings(file));
  if (failed(file.summary)) {
    page.append(failure("The file cannot be described", file.summary));
    return page;
  }
  const whole = file.summary;
  const program = whole.program ?? whole;
  page.prepend(numbers(file, whole, program));
  if (program.methods) page.append(methods(program.methods));
  if (program.delegates?.length) page.append(delegates(program.delegates));
  if (program.methods) page.append(states(program.states ?? []));
  if (file.lowering) page.append(lowering(file));
  if (whole.test_suites) page.append(suites(whole.test_suites));
  if (program.named_data?.length) page.append(namedData(program.named_data));
  if (program.segments?.length) page.append(segments(program.segments));
  return page;
}

export function type(value: { dtype?: string; shape?: (number | string | null)[]; dynamism?: string }): string {
  const bound = value.dynamism === "dynamic_bound" ? "≤" : "";
  return `${value.dtype}[${(value.shape ?? []).map((d) => (d === null ? "?" : bound + d)).join(", ")}]`;
}

function numbers(file: FileData, whole: Summary, program: Summary): HTMLElement {
  const size = whole.bytes ?? (failed(file.sizes) ? 0 : file.sizes.s);
  const facts: [string, string, string][] = [["size", bytes(size), `${count(size)} bytes`]];
  if (program.methods) {
    const planned = program.methods.flatMap((method) => method.planned_memory);
    const most = Math.max(0, ...program.methods.map((m) => total(m.planned_memory)));
    facts.push(
      ["methods", count(program.methods.length), program.methods.map((m) => m.name).join(", ")],
      ["planned memory", bytes(most), planned.length > 1 ? "of the largest method" : "for activations"],
      ["delegates", count(program.delegates?.length ?? 0), backends(program.delegates ?? [])],
      ["states", count(program.states?.length ?? 0), owners(program.states ?? [])],
    );
  }
  if (program.named_data?.length) facts.push(["named blobs", count(program.named_data.length), ""]);
  const cards = facts.map(([name, value, more]) =>
    h("div", {}, h("dt", {}, name), h("dd", {}, h("b", {}, value), h("small", {}, more))),
  );
  return h("dl", { class: "numbers" }, ...cards);
}

function total(sizes: number[]): number {
  return sizes.reduce((sum, size) => sum + size, 0);
}

function backends(all: DelegateSummary[]): string {
  return [...new Set(all.map((delegate) => delegate.backend))].join(", ");
}

function owners(all: StateSummary[]): string {
  const held = (owner: string) => all.filter((state) => state.owner === owner).length;
  if (!all.length) return "";
  return `${held("delegate")} in delegates, ${held("program")} in the program`;
}

function findings(file: FileData): HTMLElement {
  if (failed(file.findings)) return failure("The file cannot be checked", file.findings);
  const found = file.findings;
  if (!found.length) {
    return section("Check", h("p", { class: "good" }, "Nothing is wrong with the file."));
  }
  const columns = [
    { title: "severity", cell: badge, by: (one: Finding) => one.severity },
    { title: "what", cell: (one: Finding) => one.message, class: "wide" },
    { title: "where", cell: (one: Finding) => h("code", {}, one.where), class: "name" },
  ];
  const caption = `${counted(found.length, "finding")} of pteron check`;
  return section("Check", table(columns, found, { caption, page: 20 }).element);
}

function badge(finding: Finding): HTMLElement {
  return h("span", { class: `badge ${finding.severity}` }, finding.severity);
}

function methods(all: MethodSummary[]): HTMLElement {
  const columns = [
    { title: "method", cell: (m: MethodSummary) => h("b", {}, m.name), by: (m: MethodSummary) => m.name, class: "name" },
    { title: "inputs", cell: (m: MethodSummary) => signature(m.inputs), class: "wide" },
    { title: "outputs", cell: (m: MethodSummary) => signature(m.outputs), class: "wide" },
    { title: "steps", cell: calls, class: "name" },
    {
      title: "memory",
      cell: (m: MethodSummary) => bytes(total(m.planned_memory)),
      by: (m: MethodSummary) => total(m.planned_memory),
      numeric: true,
    },
  ];
  return section("Methods", table(columns, all, { caption: "Methods and signatures", headed: true }).element, operators(all));
}

function signature(values: Signature[]): HTMLElement {
  const shown = values.slice(0, 12).map((value) => {
    const kind = value.dtype ? type(value) : `${value.kind} ${value.value ?? ""}`;
    return h("li", {}, h("span", { class: "term" }, value.name), " ", h("code", {}, kind));
  });
  if (values.length > 12) shown.push(h("li", { class: "quiet" }, `and ${values.length - 12} more`));
  return h("ul", { class: "plain" }, ...shown);
}

function calls(method: MethodSummary): HTMLElement {
  const kinds = Object.entries(method.instructions).map(([kind, number]) =>
    h("li", {}, counted(number, STEP_NAMES[kind] ?? kind)),
  );
  return h("ul", { class: "plain" }, ...kinds);
}

const STEP_NAMES: Record<string, string> = {
  KernelCall: "kernel call",
  DelegateCall: "delegate call",
  MoveCall: "move",
  JumpFalseCall: "jump",
  FreeCall: "free",
};

function operators(all: MethodSummary[]): HTMLElement | null {
  const rows = all.flatMap((method) =>
    Object.entries(method.operators).map(([name, calls]) => ({ method: method.name, name, calls })),
  );
  if (!rows.length) return null;
  type Row = (typeof rows)[number];
  const columns = [
    { title: "operator", cell: (r: Row) => h("code", {}, r.name), by: (r: Row) => r.name, class: "wide" },
    { title: "method", cell: (r: Row) => r.method, by: (r: Row) => r.method },
    { title: "calls", cell: (r: Row) => count(r.calls), by: (r: Row) => r.calls, numeric: true },
  ];
  const view = table(columns, rows, { caption: "Kernel calls that no delegate took", page: 20 });
  return h(
    "details",
    { open: rows.length <= 8 },
    h("summary", {}, `${counted(rows.length, "operator")} ${rows.length === 1 ? "runs" : "run"} outside delegates`),
    view.element,
  );
}

function delegates(all: DelegateSummary[]): HTMLElement {
  const size = all.reduce((sum, delegate) => sum + delegate.bytes, 0);
  const columns = [
    { title: "delegate", cell: (d: DelegateSummary) => h("b", {}, `${d.method}[${d.index}]`), class: "name" },
    { title: "backend", cell: (d: DelegateSummary) => d.backend, by: (d: DelegateSummary) => d.backend },
    { title: "payload", cell: (d: DelegateSummary) => d.payload?.format ?? d.note ?? "", class: "wide" },
    { title: "operations", cell: operations, class: "wide" },
    { title: "size", cell: (d: DelegateSummary) => bytes(d.bytes), by: (d: DelegateSummary) => d.bytes, numeric: true },
    { title: "share", cell: (d: DelegateSummary) => share(d.bytes, size), by: (d: DelegateSummary) => d.bytes, numeric: true },
  ];
  return section("Delegates", table(columns, all, { caption: "Delegates and their payloads", headed: true }).element);
}

function operations(delegate: DelegateSummary): Child {
  const kinds = delegate.payload?.functions[0]?.operations ?? {};
  const ranked = Object.entries(kinds).filter(([kind]) => kind !== "const");
  ranked.sort(([, one], [, other]) => other - one);
  const shown = ranked.slice(0, 6).map(([kind, number]) => `${count(number)} ${kind}`);
  const rest = ranked.length > 6 ? `, ${ranked.length - 6} more kinds` : "";
  return shown.join(", ") + rest;
}

function states(all: StateSummary[]): HTMLElement {
  const columns = [
    { title: "state", cell: (s: StateSummary) => h("b", {}, s.name), by: (s: StateSummary) => s.name, class: "name" },
    { title: "owner", cell: owner, by: (s: StateSummary) => s.owner },
    { title: "method", cell: (s: StateSummary) => s.method, by: (s: StateSummary) => s.method },
    { title: "type", cell: (s: StateSummary) => h("code", {}, type(s)) },
    { title: "size", cell: (s: StateSummary) => bytes(s.bytes), by: (s: StateSummary) => s.bytes, numeric: true },
  ];
  const options = { caption: "Mutable buffers and who owns them", headed: true, empty: "The program keeps no state." };
  return section("States", table(columns, all, options).element);
}

function owner({ owner: name }: { owner: string }): HTMLElement {
  const known = ["delegate", "program", "constant"].includes(name) ? name : "undecided";
  return h("span", { class: `badge owner-${known}` }, name || known);
}

function lowering(file: FileData): HTMLElement {
  const report = file.lowering!;
  if (failed(report)) return failure("The lowering report cannot be read", report);
  const columns = [
    { title: "buffer", cell: (b: BufferRecord) => h("b", {}, b.name), by: (b: BufferRecord) => b.name, class: "name" },
    { title: "type", cell: (b: BufferRecord) => h("code", {}, type(b)) },
    { title: "owner", cell: owner, by: (b: BufferRecord) => b.owner },
    { title: "why", cell: (b: BufferRecord) => b.reason, class: "wide" },
    { title: "written by", cell: (b: BufferRecord) => accesses(b.writes), class: "wide" },
    { title: "read by", cell: (b: BufferRecord) => accesses(b.reads), class: "wide" },
  ];
  const written = [...report.buffers].sort((a, b) => b.writes.length - a.writes.length);
  const caption = "What lowering decided for each buffer";
  return section("Lowering", table(columns, written, { caption, page: 20 }).element);
}

function accesses(all: BufferRecord["reads"]): HTMLElement {
  const shown = all.slice(0, 4).map((one) =>
    h("li", {}, h("code", {}, one.op), one.line ? ` ${one.line}` : ""),
  );
  if (all.length > 4) shown.push(h("li", { class: "quiet" }, `and ${all.length - 4} more`));
  return h("ul", { class: "plain" }, ...shown);
}

function suites(all: Record<string, number>): HTMLElement {
  const rows = Object.entries(all);
  const columns = [
    { title: "method", cell: (r: [string, number]) => r[0] },
    { title: "cases", cell: (r: [string, number]) => count(r[1]), numeric: true },
  ];
  return section("Test cases", table(columns, rows, { caption: "Test cases by method", headed: true }).element);
}

function namedData(all: NonNullable<Summary["named_data"]>): HTMLElement {
  type Row = (typeof all)[number];
  const columns = [
    { title: "key", cell: (r: Row) => h("code", {}, r.key), by: (r: Row) => r.key, class: "wide" },
    { title: "aligned to", cell: (r: Row) => count(r.alignment), numeric: true },
    { title: "size", cell: (r: Row) => bytes(r.bytes), by: (r: Row) => r.bytes, numeric: true },
  ];
  return section("Named data", table(columns, all, { caption: "Named data", headed: true, page: 20 }).element);
}

function segments(all: NonNullable<Summary["segments"]>): HTMLElement {
  type Row = (typeof all)[number];
  const columns = [
    { title: "segment", cell: (r: Row) => r.index, by: (r: Row) => r.index, numeric: true },
    { title: "holds", cell: (r: Row) => r.use, by: (r: Row) => r.use, class: "wide" },
    { title: "offset", cell: (r: Row) => count(r.offset), by: (r: Row) => r.offset, numeric: true },
    { title: "size", cell: (r: Row) => bytes(r.bytes), by: (r: Row) => r.bytes, numeric: true },
  ];
  return section("Segments", table(columns, all, { caption: "Segments", headed: true, page: 20 }).element);
}
