// Where the memory goes: one chart for each planned buffer of a method, and a table of it.

import { choice } from "./choice";
import { h, type Child } from "./dom";
import { failure } from "./failure";
import { bytes, count, counted, share } from "./format";
import { chart } from "./memory_chart";
import { instructionName, valueName } from "./names";
import { table } from "./table";
import { failed, type FileData, type MethodData, type PlannedBuffer, type ReportData } from "./types";

export interface Box {
  value: number;
  name: string;
  type: string;
  role: string;
  offset: number;
  size: number;
  first: number;
  last: number;
}

export function memoryView(report: ReportData): HTMLElement {
  const names = methodNames(report.files);
  const page = h("div");
  const place = h("div");
  page.append(choice("method", names, show).element, place);
  function show(at: number): void {
    place.replaceChildren(...report.files.map((file, i) => fileMemory(report, file, i, names[at]!)));
  }
  if (names.length) show(0);
  else place.append(h("p", { class: "quiet" }, "The file has no methods, so it plans no memory."));
  return page;
}

export function methodNames(files: FileData[]): string[] {
  const all = files.flatMap((file) => (failed(file.methods) ? [] : file.methods));
  return [...new Set(all.map((method) => method.name))];
}

function fileMemory(report: ReportData, file: FileData, at: number, name: string): HTMLElement {
  const head = report.files.length > 1 ? h("h2", {}, at ? "after: " : "before: ", file.name) : null;
  if (failed(file.methods)) return failure("The methods cannot be read", file.methods);
  const method = file.methods.find((one) => one.name === name);
  const content = method ? methodMemory(method) : h("p", { class: "quiet" }, `has no method ${name}`);
  return h("section", {}, head, content);
}

function methodMemory(method: MethodData): HTMLElement {
  if (failed(method.memory)) return failure("The memory plan cannot be drawn", method.memory);
  const { buffers } = method.memory;
  if (!buffers.length) return h("p", { class: "quiet" }, "This method plans no memory.");
  const place = h("div");
  const names = buffers.map((buffer) => `${buffer.id} (${bytes(buffer.bytes)})`);
  const show = (at: number) => place.replaceChildren(bufferMemory(method, buffers[at]!));
  show(0);
  return h("div", {}, choice("planned buffer", names, show).element, place);
}

function bufferMemory(method: MethodData, buffer: PlannedBuffer): HTMLElement {
  const boxes = buffer.boxes.map((box) => described(method, box));
  const picture = boxes.length
    ? chart(method, buffer, boxes)
    : h("p", { class: "quiet" }, "No tensor lies in this buffer.");
  return h("div", {}, summary(method, buffer), picture, boxTable(method, buffer, boxes));
}

function described(method: MethodData, box: PlannedBuffer["boxes"][number]): Box {
  const [value, offset, size, first, last] = box;
  const known = failed(method.values) ? undefined : method.values[value];
  const role = known?.r ?? "activation";
  return { value, name: valueName(method, value), type: known?.t ?? "", role, offset, size, first, last };
}

function summary(method: MethodData, buffer: PlannedBuffer): HTMLElement {
  const peak = buffer.peak < 0 ? "" : `, at instruction ${count(buffer.peak)} (${instructionName(method, buffer.peak)})`;
  const used = buffer.bytes ? ` (${share(buffer.most, buffer.bytes)})` : "";
  return h(
    "p",
    { class: "about" },
    `Planned buffer ${buffer.id}: ${bytes(buffer.bytes)} (${count(buffer.bytes)} bytes) for `,
    `${counted(buffer.boxes.length, "tensor")}. Most in use at once: ${bytes(buffer.most)}${used}${peak}.`,
  );
}

function boxTable(method: MethodData, buffer: PlannedBuffer, boxes: Box[]): HTMLElement {
  const atPeak = (box: Box) => box.first <= buffer.peak && buffer.peak <= box.last;
  const name = (box: Box): Child[] => [
    h("div", { class: "keyed" }, h("span", { class: `swatch role-${box.role}` }), h("span", {}, box.name)),
    atPeak(box) && h("small", { class: "note" }, "in use at the peak"),
  ];
  const columns = [
    { title: "tensor", cell: name, by: (box: Box) => box.name, class: "wide" },
    { title: "type", cell: (box: Box) => h("code", {}, box.type), class: "name" },
    { title: "size", cell: (box: Box) => bytes(box.size), by: (box: Box) => box.size, numeric: true },
    { title: "offset", cell: (box: Box) => count(box.offset), by: (box: Box) => box.offset, numeric: true },
    { title: "from", cell: (box: Box) => count(box.first), by: (box: Box) => box.first, numeric: true },
    { title: "to", cell: (box: Box) => count(box.last), by: (box: Box) => box.last, numeric: true },
  ];
  const ranked = [...boxes].sort((a, b) => b.size - a.size);
  const caption = `Tensors in planned buffer ${buffer.id} of ${method.name}, with the instructions between which each needs its memory`;
  return table(columns, ranked, { caption, page: 20 }).element;
}
