"""The page that ``pteron inspect`` prints: a summary as tables, with colour where there is any."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table

from pteron.cli.text import cell, counted

FOLD = 12
"""Rows of a long list that are shown; the rest is counted."""
_LABEL = 8
"""Width of the labels in front of lines."""


def print_page(summary: dict[str, Any], *, everything: bool = False) -> None:
    """Print what :func:`pteron.files.summary.summarise` found."""
    console = Console(highlight=False)
    _title(console, summary)
    if summary["kind"] == "bundled program":
        suites = summary["test_suites"]
        _rows(console, "Test suites", ("method", "cases"), suites.items(), everything)
        summary = summary["program"]
    if summary["kind"] == "program":
        _program(console, summary, everything)
    named = [(n["key"], size(n["bytes"]), n["alignment"]) for n in summary["named_data"]]
    _rows(console, "Named data", ("key", "size", "alignment"), named, everything)
    if summary["kind"] == "program":
        segments = [(s["index"], s["offset"], size(s["bytes"]), s["use"]) for s in _segs(summary)]
        _rows(console, "Segments", ("#", "offset", "size", "holds"), segments, everything)


def _segs(summary: dict[str, Any]) -> list[dict[str, Any]]:
    segments: list[dict[str, Any]] = summary["segments"]
    return segments


def _title(console: Console, summary: dict[str, Any]) -> None:
    name = cell(summary["path"] or "in memory")
    total = f", {size(summary['bytes'])}" if summary["bytes"] is not None else ""
    console.print(f"[bold]{name}[/bold]: {summary['kind']}{total}")


def _program(console: Console, summary: dict[str, Any], everything: bool) -> None:
    constant = [method for method in summary["methods"] if is_constant(method)]
    for method in summary["methods"]:
        if method not in constant:
            _method(console, method)
    rows = [(m["name"], ", ".join(map(_content, m["outputs"]))) for m in constant]
    _rows(console, "Constant methods", ("name", "returns"), rows, everything)
    for delegate in summary["delegates"]:
        _delegate(console, delegate)
    states = [
        (s["name"], s["owner"], tensor(s), size(s["bytes"]), s["method"]) for s in summary["states"]
    ]
    _rows(console, "States", ("name", "owner", "type", "size", "method"), states, everything)
    for kind in ("constants", "mutable_data"):
        if summary[kind]["count"]:
            counted = f"{summary[kind]['count']}, {size(summary[kind]['bytes'])}"
            console.print(f"[bold]{kind.replace('_', ' ').capitalize()}[/bold] {counted}")


def is_constant(method: dict[str, Any]) -> bool:
    """Whether a method does nothing but return what the file holds."""
    return not method["instructions"] and not method["inputs"]


def _content(value: dict[str, Any]) -> str:
    return tensor(value) if "dtype" in value else repr(value["value"])


def _method(console: Console, method: dict[str, Any]) -> None:
    console.print(f"[bold]Method[/bold] [cyan]{cell(method['name'])}[/cyan]")
    for kind in ("inputs", "outputs"):
        listed = ", ".join(f"{cell(v['name'])}: {tensor(v)}" for v in method[kind])
        _line(console, kind, listed or "none")
    steps = ", ".join(f"{count} {name}" for name, count in method["instructions"].items())
    _line(console, "steps", steps or "none")
    if method["operators"]:
        _line(console, "kernels", cell(_counted(method["operators"])))
    if any(method["planned_memory"]):
        planned = ", ".join(size(n) for n in method["planned_memory"])
        _line(console, "memory", f"{planned} planned")


def _line(console: Console, label: str, text: str, indent: int = 2) -> None:
    """A labelled line; where it is too long for the terminal, it goes on below its own text."""
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(width=_LABEL, no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row(label, text)
    console.print(Padding(grid, (0, 0, 0, indent), expand=False))


def _delegate(console: Console, delegate: dict[str, Any]) -> None:
    name = f"{delegate['method']}[{delegate['index']}]"
    backend = f"[magenta]{cell(delegate['backend'])}[/magenta]"
    console.print(
        f"[bold]Delegate[/bold] {cell(name)} {backend}, payload {size(delegate['bytes'])}"
    )
    if delegate["payload"] is None:
        note = Padding(f"[yellow]{cell(delegate['note'])}[/yellow]", (0, 0, 0, 2), expand=False)
        console.print(note)
        return
    _line(console, "format", cell(delegate["payload"]["format"]))
    for function in delegate["payload"]["functions"]:
        console.print(f"  [bold]function {cell(function['name'])}[/bold]")
        for kind in ("inputs", "outputs", "states"):
            listed = ", ".join(f"{cell(v['name'])}: {tensor(v)}" for v in function[kind])
            if listed:
                _line(console, kind, listed, indent=4)
        _line(console, "ops", cell(_counted(function["operations"])), indent=4)


def _counted(counts: dict[str, int]) -> str:
    """The commonest first, the tail folded into a count."""
    ranked = sorted(counts.items(), key=lambda item: -item[1])
    shown = ", ".join(f"{count} {name}" for name, count in ranked[:FOLD])
    rest = len(ranked) - FOLD
    return f"{shown}, and {counted(rest, 'more kind')}" if rest > 0 else shown


def _rows(
    console: Console,
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    everything: bool,
) -> None:
    listed = list(rows)
    if not listed:
        return
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in columns:
        table.add_column(column, justify="right" if column in ("size", "offset", "#") else "left")
    shown = listed if everything else listed[:FOLD]
    for row in shown:
        table.add_row(*(cell(value) for value in row))
    console.print(f"[bold]{title}[/bold]")
    console.print(table)
    if len(shown) < len(listed):
        console.print(f"[dim]and {len(listed) - len(shown)} more: --all shows them[/dim]")


def tensor(value: dict[str, Any]) -> str:
    """``float32[1, 512]``; a bounded dynamic shape as ``float32[<=1, <=512]``."""
    if "dtype" not in value:
        return str(value["kind"]).lower()
    mark = {"dynamic_bound": "<=", "dynamic_unbound": "?"}.get(value.get("dynamism", ""), "")
    axes = ", ".join("?" if axis is None else f"{mark}{axis}" for axis in value["shape"])
    return cell(f"{value['dtype']}[{axes}]")


def size(count: int) -> str:
    """Bytes for people: binary units, three digits."""
    amount, unit = float(count), "B"
    for unit in ("B", "KiB", "MiB", "GiB"):
        if amount < 1024 or unit == "GiB":
            break
        amount /= 1024
    return f"{count} B" if unit == "B" else f"{amount:.3g} {unit}"
