// What runs in one place: the instructions of a method, or the operations of a payload's function.

/** `mixed`: both files have it, with something else inside. */
export type Fate = "same" | "added" | "removed" | "mixed";

export interface Use {
  /** The leaf that made the value, or -1: an input, a constant, a state. */
  from: number;
  key: string;
  label: string;
  type: string;
  role: string;
}

export interface Written {
  key: string;
  label: string;
  type: string;
  role: string;
}

export interface Leaf {
  at: number;
  kind: "kernel" | "delegate" | "op" | "state" | "control";
  label: string;
  reads: Use[];
  writes: Written[];
  constants: [string, string][];
  stateReads: string[];
  stateWrites: string[];
  path: string[];
  frames: string[];
  fate: Fate;
  /** [microseconds per run, runs], where a trace has it. */
  time: [number, number] | null;
  /** What is inside a delegate. */
  inner: () => Scope[];
  note: string;
}

export interface Port {
  key: string;
  label: string;
  type: string;
}

export interface Scope {
  title: string;
  /** What its leaves are called: instruction or operation. */
  unit: string;
  leaves: Leaf[];
  inputs: Port[];
  outputs: (Port & { from: number })[];
  states: Port[];
}

/** For every leaf, what takes its values. */
export function consumers(scope: Scope): { to: number; use: Use }[][] {
  const found: { to: number; use: Use }[][] = scope.leaves.map(() => []);
  for (const leaf of scope.leaves) {
    for (const use of leaf.reads) found[use.from]?.push({ to: leaf.at, use });
  }
  return found;
}
