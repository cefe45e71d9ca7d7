// Which instructions and operations of one file the other has too.

import type { Fate } from "./scope";
import { failed, type ReportData } from "./types";

export interface Fates {
  step: (at: number) => Fate;
  /** Of a delegate that both have: whether something changed inside. */
  delegate: (index: number) => Fate;
  operation: (delegate: number, name: string) => (at: number) => Fate;
}

export function fates(report: ReportData, file: number, method: string): Fates {
  const other: Fate = file === 0 ? "removed" : "added";
  const changed = changedDelegates(report);

  function of(key: string): (at: number) => Fate {
    const runs = report.matches?.[key];
    if (!runs) return () => "same";
    const kept = new Set<number>();
    for (const [before, after, length] of runs) {
      const from = file === 0 ? before : after;
      for (let i = 0; i < length; i += 1) kept.add(from + i);
    }
    return (at) => (kept.has(at) ? "same" : other);
  }

  const two = report.files.length > 1;
  return {
    step: two && !report.matches?.[method] ? () => other : of(method),
    delegate: (index) => (changed.has(`${method}[${index}]`) ? "mixed" : "same"),
    operation: (delegate, name) => of(`${method}[${delegate}]/${name}`),
  };
}

function changedDelegates(report: ReportData): Set<string> {
  const { changes } = report;
  if (!changes || failed(changes)) return new Set();
  return new Set(changes.flatMap(({ where }) => (where[0] === "delegates" && where[1] ? [where[1]] : [])));
}
