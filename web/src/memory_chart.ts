// One planned buffer as a picture: instructions to the right, offsets upwards, a box per tensor,
// and below it how much is in use at each instruction. It zooms and moves along both axes.

import { scaleLinear, type ScaleLinear } from "d3-scale";
import { pointer, select } from "d3-selection";
import { area, curveStepAfter } from "d3-shape";
import { zoom, zoomIdentity, type D3ZoomEvent, type ZoomTransform } from "d3-zoom";
import { button, fresh, h, s, set } from "./dom";
import { bytes, count } from "./format";
import type { Box } from "./memory";
import { instructionName } from "./names";
import { tip } from "./tooltip";
import type { MethodData, PlannedBuffer } from "./types";

const LEFT = 76;
const RIGHT = 12;
const TOP = 22;
const GAP = 26;
const USE = 76;
const BOTTOM = 40;
const HEIGHT = 320;

const ROLES = ["input", "output", "state", "activation"];

type Scale = ScaleLinear<number, number>;

export function chart(method: MethodData, buffer: PlannedBuffer, boxes: Box[]): HTMLElement {
  const steps = Math.max(1, buffer.in_use.length);
  const top = Math.max(1, buffer.bytes, ...boxes.map((box) => box.offset + box.size));
  const root = s("svg", { class: "chart", role: "img", "aria-label": label(method, buffer, boxes) });
  const behaviour = zoom<SVGSVGElement, unknown>().scaleExtent([1, 400]).on("zoom", moved);
  const element = h("figure", { class: "memory" }, toolbar(), root, legend(boxes));
  let transform: ZoomTransform = zoomIdentity;
  let width = 0;
  select(root).call(behaviour);
  new ResizeObserver(resize).observe(element);
  root.addEventListener("pointermove", (event) => hover(event));
  root.addEventListener("pointerleave", () => tip.hide());

  function moved(event: D3ZoomEvent<SVGSVGElement, unknown>): void {
    transform = event.transform;
    draw();
  }

  function resize(): void {
    if (element.clientWidth === width || !element.clientWidth) return;
    width = element.clientWidth;
    set(root, { width, height: TOP + HEIGHT + GAP + USE + BOTTOM });
    const extent: [[number, number], [number, number]] = [[LEFT, TOP], [width - RIGHT, TOP + HEIGHT]];
    behaviour.extent(extent).translateExtent(extent);
    draw();
  }

  function scales(): [Scale, Scale] {
    const x = scaleLinear([0, steps], [LEFT, width - RIGHT]);
    const y = scaleLinear([0, top], [TOP + HEIGHT, TOP]);
    return [transform.rescaleX(x), transform.rescaleY(y)];
  }

  function draw(): void {
    const [x, y] = scales();
    const clip = fresh("clip");
    const inside = s("g", { "clip-path": `url(#${clip})` });
    const [x0, x1] = [LEFT, width - RIGHT];
    root.replaceChildren(
      s("clipPath", { id: clip }, s("rect", { x: x0, y: 0, width: x1 - x0, height: TOP + HEIGHT + GAP + USE })),
      ...offsetAxis(y, x0, x1),
      ...instructionAxis(x, x0, x1),
      inside,
    );
    const frame = s("g", { "clip-path": `url(#${clip}-plot)` });
    root.append(s("clipPath", { id: `${clip}-plot` }, s("rect", { x: x0, y: TOP, width: x1 - x0, height: HEIGHT })));
    for (const box of boxes) frame.append(...drawnBox(box, x, y));
    inside.append(frame, ...inUse(x), ...peak(x));
    root.append(...useAxis(x0));
  }

  function drawnBox(box: Box, x: Scale, y: Scale): SVGElement[] {
    const [left, right] = [x(box.first), x(box.last + 1)];
    const [high, low] = [y(box.offset + box.size), y(box.offset)];
    if (right < LEFT || left > width - RIGHT || low < TOP || high > TOP + HEIGHT) return [];
    const [w, t] = [Math.max(right - left, 1), Math.max(low - high, 0.5)];
    const thin = w < 4 || t < 4 ? " thin" : "";
    const rect = s("rect", { class: `box role-${box.role}${thin}`, x: left, y: high, width: w, height: t });
    const from = Math.max(left, LEFT);
    const room = Math.min(right, width - RIGHT) - from - 8;
    if (room < 36 || t < 15) return [rect];
    const letters = Math.floor(room / 6.6);
    const text = box.name.length > letters ? `${box.name.slice(0, letters - 1)}…` : box.name;
    return [rect, s("text", { class: "box-name", x: from + 4, y: (Math.max(high, TOP) + Math.min(low, TOP + HEIGHT)) / 2 + 4 }, text)];
  }

  function inUse(x: Scale): SVGElement[] {
    const base = TOP + HEIGHT + GAP + USE;
    const y = scaleLinear([0, Math.max(1, buffer.most)], [base, base - USE]);
    const points = [...buffer.in_use, buffer.in_use.at(-1) ?? 0];
    const shape = area<number>()
      .x((_, i) => x(i))
      .y0(base)
      .y1((used) => y(used))
      .curve(curveStepAfter);
    return [s("path", { class: "in-use", d: shape(points) ?? "" })];
  }

  function peak(x: Scale): SVGElement[] {
    if (buffer.peak < 0) return [];
    const at = x(buffer.peak + 0.5);
    const text = `peak ${bytes(buffer.most)}, instruction ${count(buffer.peak)}`;
    const right = at > (LEFT + width) / 2;
    return [
      s("line", { class: "peak", x1: at, x2: at, y1: TOP - 6, y2: TOP + HEIGHT + GAP + USE }),
      s("text", { class: "peak-name", x: at + (right ? -6 : 6), y: TOP - 8, "text-anchor": right ? "end" : "start" }, text),
    ];
  }

  function hover(event: PointerEvent): void {
    const [px, py] = pointer(event, root);
    const [x, y] = scales();
    const [step, offset] = [x.invert(px), y.invert(py)];
    if (px < LEFT || px > width - RIGHT || py < TOP) return tip.hide();
    if (py > TOP + HEIGHT) return hoverUse(event, Math.floor(step));
    const found = boxes.find(
      (box) => box.first <= step && step < box.last + 1 && box.offset <= offset && offset < box.offset + box.size,
    );
    if (!found) return tip.hide();
    tip.show(event, found.name, boxFacts(method, found));
  }

  function hoverUse(event: PointerEvent, step: number): void {
    const used = buffer.in_use[step];
    if (used === undefined) return tip.hide();
    tip.show(event, `instruction ${count(step)}`, [instructionName(method, step), `${bytes(used)} in use`]);
  }

  function toolbar(): HTMLElement {
    const by = (factor: number) => () => behaviour.scaleBy(select(root), factor);
    return h(
      "div",
      { class: "toolbar" },
      button("+", by(2), { "aria-label": "Zoom in" }),
      button("−", by(0.5), { "aria-label": "Zoom out" }),
      button("Fit", () => behaviour.transform(select(root), zoomIdentity)),
      h("span", { class: "quiet" }, "scroll to zoom, drag to move"),
    );
  }

  return element;
}

function boxFacts(method: MethodData, box: Box): string[] {
  const { first, last } = box;
  const life =
    first === last
      ? `only instruction ${count(first)} (${instructionName(method, first)})`
      : `instructions ${count(first)} (${instructionName(method, first)}) to ${count(last)} (${instructionName(method, last)})`;
  const place = `${bytes(box.size)} at offset ${count(box.offset)}`;
  return [`${box.role === "activation" ? "" : `${box.role}, `}${box.type}`, place, life];
}

function label(method: MethodData, buffer: PlannedBuffer, boxes: Box[]): string {
  const most = `at most ${bytes(buffer.most)} in use, at instruction ${buffer.peak}`;
  return `Planned buffer ${buffer.id} of ${method.name}: ${boxes.length} tensors, ${most}. The table below has them all.`;
}

function legend(boxes: Box[]): HTMLElement {
  const found = ROLES.filter((role) => boxes.some((box) => box.role === role));
  const items = found.map((role) => h("li", {}, h("span", { class: `swatch role-${role}` }), role));
  return h("ul", { class: "legend", "aria-label": "Colours" }, ...items);
}

function offsetAxis(y: Scale, x0: number, x1: number): SVGElement[] {
  const [low, high] = y.domain() as [number, number];
  return byteTicks(low, high, 6).flatMap((tick) => {
    const at = y(tick);
    return [
      s("line", { class: "grid", x1: x0, x2: x1, y1: at, y2: at }),
      s("text", { class: "tick", x: x0 - 8, y: at + 4, "text-anchor": "end" }, bytes(tick)),
    ];
  });
}

function useAxis(x0: number): SVGElement[] {
  const at = TOP + HEIGHT + GAP;
  return [
    s("text", { class: "tick", x: x0 - 8, y: at + 8, "text-anchor": "end" }, "in use"),
    s("text", { class: "tick", x: x0 - 8, y: at + USE, "text-anchor": "end" }, "0 B"),
  ];
}

function instructionAxis(x: Scale, x0: number, x1: number): SVGElement[] {
  const base = TOP + HEIGHT + GAP + USE;
  const ticks = x.ticks(Math.min(10, (x1 - x0) / 80)).filter(Number.isInteger);
  const drawn = ticks
    .filter((tick) => x(tick + 0.5) <= x1 && x(tick + 0.5) >= x0)
    .map((tick) => s("text", { class: "tick", x: x(tick + 0.5), y: base + 16, "text-anchor": "middle" }, count(tick)));
  const title = s("text", { class: "tick", x: (x0 + x1) / 2, y: base + 34, "text-anchor": "middle" }, "instruction");
  return [...drawn, title];
}

/** Round numbers in binary units: 0, 64 KiB, 128 KiB. */
function byteTicks(low: number, high: number, most: number): number[] {
  let step = 1;
  while ((high - low) / step > most) step *= 2;
  const first = Math.ceil(Math.max(0, low) / step) * step;
  const found: number[] = [];
  for (let tick = first; tick <= high; tick += step) found.push(tick);
  return found;
}
