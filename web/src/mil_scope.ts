// The operations of a Core ML function as a scope.

import type { Fate, Leaf, Scope } from "./scope";
import type { MilFunction, MilOp } from "./types";

const STATE_OPS = ["read_state", "write_state"];

export function milScope(
  from: MilFunction,
  time: (output: string) => [number, number] | null,
  fate: (at: number) => Fate,
): Scope {
  const types = new Map<string, string>(from.inputs);
  for (const op of from.ops) op.n.forEach((name, i) => types.set(name, op.o[i] ?? ""));

  function leaf(op: MilOp, at: number): Leaf {
    const state = op.s ? [op.s] : [];
    return {
      at,
      kind: STATE_OPS.includes(op.t) ? "state" : "op",
      label: op.t,
      reads: (op.i ?? []).map(([parameter, producer, name]) => ({
        from: producer,
        key: name,
        label: name,
        type: types.get(name) ?? "",
        role: parameter,
      })),
      writes: op.n.map((name, i) => ({ key: name, label: name, type: op.o[i] ?? "", role: "" })),
      constants: op.c ?? [],
      stateReads: op.t === "write_state" ? [] : state,
      stateWrites: op.t === "read_state" ? [] : state,
      path: op.p ?? [],
      frames: [],
      fate: fate(at),
      time: op.n.map(time).find((found) => found !== null) ?? null,
      inner: () => [],
      note: "",
    };
  }

  return {
    title: from.name,
    unit: "operation",
    leaves: from.ops.map(leaf),
    inputs: from.inputs.map(([name, type]) => ({ key: name, label: name, type })),
    outputs: from.outputs.map(([name, producer]) => ({
      key: name,
      label: name,
      type: types.get(name) ?? "",
      from: producer,
    })),
    states: from.states.map(([name, type]) => ({ key: name, label: name, type })),
  };
}
