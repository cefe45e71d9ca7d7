// The data that pteron.report puts into the page; `collect.py` and its neighbours write it.

export interface Failure {
  error: string;
}

export type Maybe<T> = T | Failure;

export function failed<T extends object>(part: Maybe<T> | null): part is Failure {
  return part !== null && "error" in part;
}

export interface ReportData {
  pteron: string;
  files: FileData[];
  changes?: Maybe<Change[]>;
  matches?: Record<string, Run[]>;
  times?: Times;
  licences: string;
}

/** [first instruction here, first one there, how many are equal from there on] */
export type Run = [number, number, number];

export interface Times {
  methods: Record<string, Record<string, [number, number]>>;
  elsewhere: Record<string, [number, number]>;
}

export interface FileData {
  name: string;
  kind: string;
  summary: Maybe<Summary>;
  findings: Maybe<Finding[]>;
  sizes: Maybe<Part>;
  lowering: Maybe<Lowering> | null;
  methods: Maybe<MethodData[]>;
}

export interface Finding {
  severity: "error" | "warning" | "note";
  where: string;
  message: string;
}

export interface Part {
  n: string;
  k: string;
  s: number;
  o: number;
  t?: string;
  x?: string;
  c?: Part[];
}

export interface Lowering {
  buffers: BufferRecord[];
}

export interface Access {
  op: string;
  line: string;
}

export interface BufferRecord {
  name: string;
  dtype: string;
  shape: string[];
  owner: string;
  reason: string;
  reads: Access[];
  writes: Access[];
}

export interface Signature {
  name: string;
  kind?: string;
  dtype?: string;
  shape?: (number | null)[];
  dynamism?: string;
  value?: unknown;
}

export interface MethodSummary {
  name: string;
  inputs: Signature[];
  outputs: Signature[];
  values: number;
  instructions: Record<string, number>;
  operators: Record<string, number>;
  planned_memory: number[];
}

export interface PayloadFunction {
  name: string;
  inputs: Signature[];
  outputs: Signature[];
  states: Signature[];
  operations: Record<string, number>;
}

export interface DelegateSummary {
  method: string;
  index: number;
  backend: string;
  bytes: number;
  note?: string;
  payload: { format: string; functions: PayloadFunction[] } | null;
}

export interface StateSummary {
  name: string;
  owner: string;
  method: string;
  dtype: string;
  shape: (number | null)[];
  bytes: number;
}

export interface Summary {
  kind: string;
  bytes: number | null;
  schema_version?: number;
  methods?: MethodSummary[];
  delegates?: DelegateSummary[];
  states?: StateSummary[];
  constants?: { count: number; bytes: number };
  mutable_data?: { count: number; bytes: number };
  named_data?: { key: string; bytes: number; alignment: number }[];
  segments?: { index: number; offset: number; bytes: number; use: string }[];
  test_suites?: Record<string, number>;
  program?: Summary;
}

export interface Value {
  t: string;
  n?: string;
  r?: string;
}

/** [kind, operator or delegate, stack, values read, who made them, values written] */
export type Step = [string, number, number, number[], number[], number[]];

export interface MethodData {
  name: string;
  inputs: number[];
  outputs: number[];
  values: Maybe<Value[]>;
  run: Maybe<{ operators: string[]; stacks: [string, string][][]; steps: Step[] }>;
  memory: Maybe<Memory>;
  delegates: DelegateGraph[];
}

export interface Memory {
  steps: number;
  buffers: PlannedBuffer[];
}

export interface PlannedBuffer {
  id: number;
  bytes: number;
  /** [value, offset, bytes, first instruction, last instruction] */
  boxes: [number, number, number, number, number][];
  in_use: number[];
  most: number;
  peak: number;
}

export interface DelegateGraph {
  backend: string;
  bytes: number;
  error?: string;
  format?: string;
  functions?: MilFunction[];
  kinds?: { name: string; operations: Record<string, number> }[];
}

export interface MilFunction {
  name: string;
  inputs: [string, string][];
  states: [string, string][];
  outputs: [string, number][];
  ops: MilOp[];
}

export interface MilOp {
  t: string;
  n: string[];
  o: string[];
  i?: [string, number, string][];
  c?: [string, string][];
  s?: string;
  p?: string[];
}

export interface Change {
  where: string[];
  kind: "added" | "removed" | "changed";
  before: unknown;
  after: unknown;
  distance?: { differing: number; count: number; max_abs: number | string; relative: number | string };
}
