// What values and instructions of a method are called.

import { failed, type MethodData } from "./types";

export function valueName(method: MethodData, index: number): string {
  const value = failed(method.values) ? undefined : method.values[index];
  if (value?.n) return value.n;
  const input = method.inputs.indexOf(index);
  if (input >= 0) return `input ${input}`;
  const output = method.outputs.indexOf(index);
  return output >= 0 ? `output ${output}` : `%${index}`;
}

export function instructionName(method: MethodData, index: number): string {
  if (failed(method.run)) return "";
  const step = method.run.steps[index];
  if (!step) return "";
  const [kind, target] = step;
  if (kind === "kernel") return method.run.operators[target] ?? `operator ${target}`;
  if (kind === "delegate") return method.delegates[target]?.backend ?? `delegate ${target}`;
  return kind === "jump" ? `jump to ${target}` : kind;
}
