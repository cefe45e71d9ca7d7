// The page of `pteron report`: reads the data that stands in it and puts up the views.

import "./style.css";
import { bytesView } from "./bytes";
import { changesView } from "./changes";
import { h } from "./dom";
import { bytes } from "./format";
import { memoryView } from "./memory";
import { overview } from "./overview";
import { runView } from "./run";
import { tabs, type Tab } from "./tabs";
import { themeSwitch } from "./theme";
import { timesView } from "./times_view";
import { failed, type FileData, type ReportData } from "./types";

const report = JSON.parse(document.getElementById("data")!.textContent!) as ReportData;
document.getElementById("report")!.replaceWith(...page(report));

function page(data: ReportData): HTMLElement[] {
  const { times } = data;
  const two = data.files.length > 1;
  const first: Tab = two
    ? { title: "Changes", make: () => changesView(data) }
    : { title: "Overview", make: () => overview(data.files[0]!) };
  const all: Tab[] = [first, { title: "Where the bytes are", make: () => bytesView(data) }];
  if (data.files.some((file) => failed(file.methods) || file.methods.length)) {
    all.push(
      { title: "Where the memory goes", make: () => memoryView(data) },
      { title: "What runs", make: () => runView(data) },
    );
  }
  if (times) all.push({ title: "A run", make: () => timesView(data, times) });
  const views = h("main", {}, tabs("Views", all).element);
  return [head(data), views, foot(data)];
}

function head(data: ReportData): HTMLElement {
  const names = data.files.map(title);
  const between = h("span", { class: "quiet" }, " → ");
  const heading = h("h1", {}, ...names.flatMap((name, i) => (i ? [between, name] : [name])));
  return h("header", {}, heading, themeSwitch());
}

function title(file: FileData): HTMLElement {
  const size = failed(file.sizes) ? "" : `, ${bytes(file.sizes.s)}`;
  return h("span", { class: "file" }, file.name, " ", h("small", {}, `${file.kind}${size}`));
}

function foot(data: ReportData): HTMLElement {
  const licences = h("details", {}, h("summary", {}, "Licences of the libraries in this page"));
  licences.append(h("pre", {}, data.licences));
  return h("footer", {}, `made by pteron ${data.pteron}; loads nothing from anywhere`, licences);
}
