// What stands where a part of the file could not be read.

import { h } from "./dom";
import type { Failure } from "./types";

export function failure(what: string, { error }: Failure): HTMLElement {
  return h("p", { class: "failure", role: "note" }, `${what}: ${error}`);
}
