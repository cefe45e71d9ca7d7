// Bundles src/ into report.js and report.css, and gathers the licences of what goes into them.
//
//   node build.mjs [directory]     by default src/pteron/report/assets

import { build } from "esbuild";
import { readFileSync, readdirSync, writeFileSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const target = process.argv[2] ?? join(here, "../src/pteron/report/assets");

const built = await build({
  absWorkingDir: here,
  entryPoints: { report: "src/main.ts" },
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  charset: "utf8",
  legalComments: "none",
  outdir: "out",
  write: false,
  metafile: true,
});
mkdirSync(target, { recursive: true });
for (const file of built.outputFiles) {
  const text = file.text;
  if (/<\/(script|style)/i.test(text)) throw new Error(`${file.path} would end its own element`);
  writeFileSync(join(target, file.path.split(/[\\/]/).at(-1)), text);
}
writeFileSync(join(target, "licences.txt"), licences(Object.keys(built.metafile.inputs)));

function licences(inputs) {
  const packages = inputs.map((path) => path.match(/^node_modules\/((?:@[^/]+\/)?[^/]+)\//)?.[1]);
  return [...new Set(packages.filter(Boolean))].sort().map(licence).join("\n\n");
}

function licence(name) {
  const folder = join(here, "node_modules", name);
  const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  if (!file) throw new Error(`${name} has no licence text`);
  const text = readFileSync(join(folder, file), "utf8").trim();
  return `${name} ${version} (${license})\n\n${text}\n`;
}
