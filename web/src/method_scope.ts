// A method's instructions as a scope.

import { counted } from "./format";
import { milScope } from "./mil_scope";
import { instructionName, valueName } from "./names";
import type { Fates } from "./fates";
import type { Fate, Leaf, Scope, Use, Written } from "./scope";
import { failed, type DelegateGraph, type MethodData, type Step, type Times } from "./types";

const KINDS: Record<string, Leaf["kind"]> = { kernel: "kernel", delegate: "delegate" };
const CONSTANT = ["constant", "external"];

export function methodScope(
  method: MethodData,
  fates: Fates,
  times: Times | undefined,
): Scope {
  if (failed(method.run) || failed(method.values)) throw new Error("unreachable");
  const { steps, stacks } = method.run;
  const values = method.values;
  const measured = times?.methods[method.name];

  function written(index: number): Written {
    const { t: type = "", r: role = "" } = values[index] ?? { t: "" };
    return { key: String(index), label: valueName(method, index), type, role };
  }

  /** Numbers, flags and lists that no instruction makes are constants, like tensors in the file. */
  function isConstant(use: Use): boolean {
    const { from, role, type } = use;
    return CONSTANT.includes(role) || (from < 0 && role === "" && !isTensor(type));
  }

  function leaf(step: Step, at: number): Leaf {
    const [kind, target, stack, reads, producers, writes] = step;
    const uses = reads.map((index, i) => ({ ...written(index), from: producers[i]! }));
    const inside = kind === "delegate" ? method.delegates[target] : undefined;
    const held = (inside?.functions?.[0]?.states ?? []).map(([name]) => name);
    const stateful = (all: Written[]) => all.filter((one) => one.role === "state").map((one) => one.label);
    const frames = stacks[stack] ?? [];
    return {
      at,
      kind: KINDS[kind] ?? "control",
      label: kind === "delegate" ? `${instructionName(method, at)} [${target}]` : instructionName(method, at),
      reads: uses.filter((use) => !isConstant(use) && use.role !== "state"),
      writes: writes.map(written),
      constants: uses.filter(isConstant).map((use) => [use.label, use.type]),
      stateReads: [...stateful(uses), ...held],
      stateWrites: [...stateful(writes.map(written)), ...held],
      path: frames.map(([name]) => name),
      frames: frames.map(([, place]) => place),
      fate: fate(kind, target, at),
      time: perRun(measured?.[String(at)]),
      inner: () => (inside ? innerScopes(inside, target, measured, fates) : []),
      note: inside ? noteOf(inside) : "",
    };
  }

  function fate(kind: string, target: number, at: number): Fate {
    const found = fates.step(at);
    return kind === "delegate" && found === "same" ? fates.delegate(target) : found;
  }

  const leaves = steps.map(leaf);
  return {
    title: method.name,
    unit: "instruction",
    leaves,
    inputs: method.inputs.map(written),
    outputs: outputs(method, leaves).map(([index, from]) => ({ ...written(index), from })),
    states: states(leaves, values, method),
  };
}

function isTensor(type: string): boolean {
  return /^[a-z]\w*(\(\d+\))?\[/.test(type);
}

export function perRun(total: [number, number] | undefined): [number, number] | null {
  return total && total[1] ? [total[0] / total[1], total[1]] : null;
}

function noteOf(inside: DelegateGraph): string {
  if (inside.error) return inside.error;
  const functions = inside.functions ?? [];
  const operations = functions.reduce((sum, one) => sum + one.ops.length, 0);
  return functions.length ? `${inside.format}, ${counted(operations, "operation")}` : (inside.format ?? "");
}

function innerScopes(
  inside: DelegateGraph,
  index: number,
  measured: Record<string, [number, number]> | undefined,
  fates: Fates,
): Scope[] {
  const time = (name: string) => perRun(measured?.[`${index}/${name}`]);
  return (inside.functions ?? []).map((one) => milScope(one, time, fates.operation(index, one.name)));
}

function outputs(method: MethodData, leaves: Leaf[]): [number, number][] {
  const made = new Map<string, number>();
  for (const leaf of leaves) for (const one of leaf.writes) made.set(one.key, leaf.at);
  return method.outputs.map((index) => [index, made.get(String(index)) ?? -1]);
}

function states(leaves: Leaf[], values: { t: string }[], method: MethodData) {
  const types = new Map<string, string>();
  values.forEach((value, index) => types.set(valueName(method, index), value.t));
  for (const one of method.delegates) {
    for (const [name, type] of one.functions?.[0]?.states ?? []) types.set(name, type);
  }
  const names = new Set(leaves.flatMap((leaf) => [...leaf.stateReads, ...leaf.stateWrites]));
  return [...names].map((name) => ({ key: name, label: name, type: types.get(name) ?? "" }));
}
