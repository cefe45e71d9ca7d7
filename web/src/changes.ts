// Two files: every change that pteron diff finds, and the two side by side.

import { h, section, type Child } from "./dom";
import { failure } from "./failure";
import { bytes, counted, cut } from "./format";
import { overview } from "./overview";
import { table } from "./table";
import { failed, type Change, type ReportData } from "./types";

const LONGEST = 160;
const MARKS = { added: "+", removed: "−", changed: "~" };

export function changesView(report: ReportData): HTMLElement {
  const page = h("div");
  const { changes } = report;
  if (changes && failed(changes)) page.append(failure("The files cannot be compared", changes));
  else page.append(listed(changes ?? []));
  const sides = report.files.map((file, at) =>
    h("details", {}, h("summary", {}, `${at ? "After" : "Before"}: ${file.name}`), overview(file)),
  );
  page.append(...sides);
  return page;
}

function listed(changes: Change[]): HTMLElement {
  if (!changes.length) return section("Changes", h("p", { class: "good" }, "The files are the same, byte for byte."));
  const columns = [
    { title: "±", cell: (one: Change) => h("span", { class: `mark ${one.kind}`, title: one.kind }, MARKS[one.kind]), by: (one: Change) => one.kind },
    { title: "where", cell: where, by: (one: Change) => one.where.join("/"), class: "name" },
    { title: "before", cell: (one: Change) => value(one, one.before), class: "wide" },
    { title: "after", cell: (one: Change) => value(one, one.after), class: "wide" },
    { title: "distance", cell: distance, class: "wide" },
  ];
  const caption = `${counted(changes.length, "change")} of pteron diff`;
  return section("Changes", table(columns, changes, { caption, page: 40 }).element);
}

function where(one: Change): Child[] {
  return one.where.flatMap((part, i) => [i ? h("span", { class: "quiet" }, " › ") : null, part]);
}

function value(one: Change, content: unknown): Child {
  if (content === null || content === undefined) return "";
  const size = typeof content === "number" && /^(size|bytes|offset)$/.test(one.where.at(-1) ?? "");
  if (size) return bytes(content as number);
  if (Array.isArray(content) && content.length > 3 && content.every((item) => typeof item === "string")) {
    return h("details", {}, h("summary", {}, `${content.length} steps`), h("ol", {}, ...content.map((item) => h("li", {}, h("code", {}, item)))));
  }
  const text = typeof content === "string" ? content : JSON.stringify(content);
  return h("code", { title: text.length > LONGEST ? cut(text, 2000) : undefined }, cut(text, LONGEST));
}

function distance({ distance: found }: Change): string {
  if (!found) return "";
  const number = (value: number | string) => (typeof value === "number" ? value.toPrecision(3) : value);
  return `${found.differing} of ${found.count} differ, by ${number(found.max_abs)} at most, relatively ${number(found.relative)}`;
}
