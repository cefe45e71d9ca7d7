"""The page that ``pteron inspect`` prints: a summary as tables, with colour where there is any."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pteron.cli.page_layout import Layout
from pteron.cli.text import cell, printable


def print_page(summary: dict[str, Any], *, everything: bool = False) -> None:
    """Print what :func:`pteron.files.summary.summarise` found."""
    page = Layout(everything=everything)
    _title(page, summary)
    if summary["kind"] == "Core ML model":
        _model(page, summary)
        return
    if summary["kind"] == "bundled program":
        page.rows("Test suites", ("method", "cases"), summary["test_suites"].items())
        summary = summary["program"]
    if summary["kind"] == "program":
        _program(page, summary)
    named = [(n["key"], size(n["bytes"]), n["alignment"]) for n in summary["named_data"]]
    page.rows("Named data", ("key", "size", "alignment"), named)
    if summary["kind"] == "program":
        segments = [
            (s["index"], s["offset"], size(s["bytes"]), s["use"]) for s in summary["segments"]
        ]
        page.rows("Segments", ("#", "offset", "size", "holds"), segments)


def _title(page: Layout, summary: dict[str, Any]) -> None:
    name = cell(summary["path"] or "in memory")
    total = f", {size(summary['bytes'])}" if summary["bytes"] is not None else ""
    page.heading(f"[bold]{name}[/bold]: {summary['kind']}{total}")


def _program(page: Layout, summary: dict[str, Any]) -> None:
    methods = summary["methods"]
    for method in page.each([m for m in methods if not is_constant(m)], "methods"):
        _method(page, method)
    constant = [m for m in methods if is_constant(m)]
    rows = [(m["name"], ", ".join(map(_content, m["outputs"]))) for m in constant]
    page.rows("Constant methods", ("name", "returns"), rows)
    for delegate in page.each(summary["delegates"], "delegates"):
        _delegate(page, delegate)
    states = [
        (s["name"], s["owner"], tensor(s), size(s["bytes"]), s["method"]) for s in summary["states"]
    ]
    page.rows("States", ("name", "owner", "type", "size", "method"), states)
    for kind in ("constants", "mutable_data"):
        _blobs(page, kind, summary[kind])


def _model(page: Layout, summary: dict[str, Any]) -> None:
    _payload(page, summary, indent=0)
    _blobs(page, "constants", summary["constants"])
    files = [(file["path"], size(file["bytes"])) for file in summary["files"]]
    page.rows("Files", ("path", "size"), files)


def _blobs(page: Layout, kind: str, counted: dict[str, int]) -> None:
    if count := counted["count"]:
        title = kind.replace("_", " ").capitalize()
        page.heading(f"[bold]{title}[/bold] {count}, {size(counted['bytes'])}")


def is_constant(method: dict[str, Any]) -> bool:
    """Whether a method does nothing but return what the file holds."""
    return not method["instructions"] and not method["inputs"]


def _content(value: dict[str, Any]) -> str:
    return tensor(value) if "dtype" in value else repr(value["value"])


def _method(page: Layout, method: dict[str, Any]) -> None:
    page.heading(f"[bold]Method[/bold] [cyan]{cell(method['name'])}[/cyan]")
    for kind in ("inputs", "outputs"):
        page.line(kind, _typed(method[kind]) or ["none"])
    steps = [f"{count} {name}" for name, count in method["instructions"].items()]
    page.line("steps", steps or ["none"])
    if method["operators"]:
        page.line("kernels", _ranked(method["operators"]))
    if any(method["planned_memory"]):
        planned = ", ".join(size(n) for n in method["planned_memory"])
        page.line("memory", [f"{planned} planned"])
    if lines := method["source_lines"]:
        page.line("frames", [f"{len(lines)} steps tell their line of the model (see --json)"])


def _delegate(page: Layout, delegate: dict[str, Any]) -> None:
    name = f"{delegate['method']}[{delegate['index']}]"
    backend = f"[magenta]{cell(delegate['backend'])}[/magenta]"
    page.heading(f"[bold]Delegate[/bold] {cell(name)} {backend}, payload {size(delegate['bytes'])}")
    _payload(page, delegate, indent=2)


def _payload(page: Layout, described: dict[str, Any], indent: int) -> None:
    """What a delegate, or a model by itself, holds, and why it or its weights cannot be read."""
    if "note" in described:
        page.heading(f"[yellow]{cell(described['note'])}[/yellow]", indent=indent)
    if described["payload"] is None:
        return
    page.line("format", [described["payload"]["format"]], indent=indent)
    functions = described["payload"]["functions"]
    default = described["payload"].get("default") if len(functions) > 1 else None
    for function in page.each(functions, "functions"):
        which = ", the default" if function["name"] == default else ""
        page.heading(f"[bold]function {cell(function['name'])}[/bold]{which}", indent=indent)
        for kind in ("inputs", "outputs", "states"):
            if function[kind]:
                page.line(kind, _typed(function[kind]), indent=indent + 2)
        page.line("ops", _ranked(function["operations"]), indent=indent + 2)


def _typed(values: Sequence[dict[str, Any]]) -> list[str]:
    return [f"{value['name']}: {tensor(value)}" for value in values]


def _ranked(counts: dict[str, int]) -> list[str]:
    """The commonest first."""
    ranked = sorted(counts.items(), key=lambda item: -item[1])
    return [f"{count} {name}" for name, count in ranked]


def tensor(value: dict[str, Any]) -> str:
    """``float32[1, 512]``; a bounded dynamic shape as ``float32[<=1, <=512]``."""
    if "dtype" not in value:
        return str(value["kind"]).lower()
    mark = {"dynamic_bound": "<=", "dynamic_unbound": "?"}.get(value.get("dynamism", ""), "")
    axes = ", ".join("?" if axis is None else f"{mark}{axis}" for axis in value["shape"])
    return printable(f"{value['dtype']}[{axes}]")


def size(count: int) -> str:
    """Bytes for people: binary units, three digits."""
    amount, unit = float(count), "B"
    for unit in ("B", "KiB", "MiB", "GiB"):
        if amount < 1024 or unit == "GiB":
            break
        amount /= 1024
    return f"{count} B" if unit == "B" else f"{amount:.3g} {unit}"
