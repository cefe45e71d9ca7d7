"""The page that ``pteron bench`` prints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

from pteron.cli.page import size
from pteron.cli.text import cell

if TYPE_CHECKING:
    from pteron.bench import Result
    from pteron.bench.result import InstructionCost, LoadCost, MemoryLimit

SHOWN = 14
"""Types of operations shown per delegate; the rest is summed up."""
_UNKNOWN = "not known"


def print_result(result: Result) -> None:
    """Print what :func:`pteron.bench.benchmark` found."""
    console = Console(highlight=False)
    threads = "threads as the engine likes" if result.threads is None else _threads(result.threads)
    console.print(f"[bold]{cell(result.file)}[/bold] [cyan]{cell(result.method)}[/cyan]")
    console.print(cell(f"{result.engine}, precision {result.precision}, {threads}"), style="dim")
    _facts(console, result)
    for instruction in result.instructions:
        _instruction(console, instruction)


def _threads(count: int) -> str:
    return "1 thread" if count == 1 else f"{count} threads"


def _facts(console: Console, result: Result) -> None:
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for label, text in facts(result):
        table.add_row(label, cell(text))
    console.print(table)


def facts(result: Result) -> Sequence[tuple[str, str]]:
    """The figures that are not about single operations, labelled."""
    latency, load = result.latency, result.load
    return [
        (
            "latency",
            f"p50 {_time(latency.p50)}, p90 {_time(latency.p90)}, p99 {_time(latency.p99)}, "
            f"mean {_time(latency.mean)} of {result.repeat} calls after {result.warmup}",
        ),
        ("throughput", _throughput(result)),
        ("limit", _limit(result.limit)),
        (
            "load",
            "nothing to compile"
            if load.cold is None or load.hit is None
            else f"cold {_time(load.cold)}, from the cache {_time(load.hit)}",
        ),
        ("peak memory", _peak(load)),
        ("state", _state(result)),
        ("rewrites", ", ".join(f"{n} {k}" for k, n in result.rewrites.items()) or "none"),
    ]


def _throughput(result: Result) -> str:
    told = f"{result.calls_per_second:,.1f} calls/s, one stream"
    together = result.throughput
    if together.streams == 1:
        return told
    return f"{told}; {together.calls_per_second:,.1f} calls/s, {together.streams} streams"


def _limit(limit: MemoryLimit) -> str:
    if limit.calls_per_second is None:
        return f"no weights counted; memory is read at {limit.bandwidth / 1e9:.1f} GB/s"
    return (
        f"{limit.fraction:.3g} of {limit.calls_per_second:,.1f} calls/s, which is "
        f"{size(limit.weight_bytes)} of weights at {limit.bandwidth / 1e9:.1f} GB/s"
    )


def _peak(load: LoadCost) -> str:
    if load.peak_bytes is None:
        return _UNKNOWN
    told = f"{size(load.peak_bytes)} more while loading cold"
    if load.cold is None or not load.payload_bytes:  # nothing was compiled
        return told
    times = load.peak_bytes / load.payload_bytes
    return f"{told}, {times:,.1f} times the payload's {size(load.payload_bytes)}"


def _state(result: Result) -> str:
    copied = result.state_bytes_copied
    told = _UNKNOWN if copied is None else size(copied)
    return f"{size(result.state_bytes)}, copied at each call: {told}"


def _instruction(console: Console, cost: InstructionCost) -> None:
    name = f"delegate {cost.delegate}" if cost.delegate is not None else "kernel"
    console.print(
        f"[bold]{cost.instruction}[/bold] {name} [magenta]{cell(cost.name)}[/magenta] "
        f"{_time(cost.seconds)}"
    )
    if not cost.ops:
        return
    total = sum(op.seconds for op in cost.ops)
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("time", "share", "count"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("operation", overflow="fold")
    table.add_column("kernel", overflow="fold")
    for op in cost.ops[:SHOWN]:
        share = f"{op.seconds / total:.1%}"
        table.add_row(_time(op.seconds), share, str(op.count), cell(op.type), cell(op.kernel))
    if rest := cost.ops[SHOWN:]:
        seconds = sum(op.seconds for op in rest)
        count = sum(op.count for op in rest)
        table.add_row(_time(seconds), f"{seconds / total:.1%}", str(count), "others", "")
    console.print(table)


def _time(seconds: float) -> str:
    """Seconds for people: three digits."""
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if seconds * factor >= 1 or unit == "us":
            return f"{seconds * factor:.3g} {unit}"
    raise AssertionError
