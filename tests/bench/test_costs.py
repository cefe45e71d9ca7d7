"""Averages and traces, from spans written by hand."""

from __future__ import annotations

import pytest

from pteron.bench.costs import instruction_costs
from pteron.bench.latency import distribution
from pteron.bench.trace import chrome_trace
from pteron.engines.base import OpTime
from pteron.runtime.timeline import Place, Span

DELEGATE = Place("forward", 1, "delegate", "CoreMLBackend", 0)
KERNEL = Place("forward", 0, "kernel", "aten::add.out")


def ops(*seconds: float) -> tuple[OpTime, ...]:
    first = OpTime("a", "FullyConnected", "brgemm", ("q", "k"), seconds[0])
    return (first, *(OpTime("b", "Reorder", "jit", (), time) for time in seconds[1:]))


SPANS = [
    Span(KERNEL, 10.0, 0.5),
    Span(DELEGATE, 11.0, 2.0, ops(1.0, 0.25, 0.25)),
    Span(KERNEL, 20.0, 1.5),
    Span(DELEGATE, 22.0, 4.0, ops(2.0, 0.5, 0.5)),
]


def test_costs_are_averages_in_the_plans_order() -> None:
    kernel, delegate = instruction_costs(SPANS)
    assert (kernel.name, kernel.seconds, kernel.ops) == ("aten::add.out", 1.0, ())
    assert (delegate.delegate, delegate.seconds) == (0, 3.0)
    dearest, other = delegate.ops
    assert (dearest.type, dearest.count, dearest.seconds) == ("FullyConnected", 1, 1.5)
    assert (other.kernel, other.count, other.seconds) == ("jit", 2, 0.75)


def test_an_operation_that_was_timed_now_and_then_is_one() -> None:
    spans = [Span(DELEGATE, 0.0, 1.0, ops(0.5)), *[Span(DELEGATE, 0.0, 1.0)] * 3]
    (cost,) = instruction_costs(spans)[0].ops
    assert (cost.count, cost.seconds) == (1, 0.125)


def test_a_trace_has_an_event_per_instruction_and_operation() -> None:
    events = chrome_trace(SPANS)["traceEvents"]
    assert [e["cat"] for e in events] == ["kernel", "delegate", *["op"] * 3] * 2
    delegate, matmul, reorder = events[1:4]
    assert (delegate["ts"], delegate["dur"]) == (1e6, 2e6)
    assert delegate["args"] == {
        "method": "forward",
        "instruction": 1,
        "delegate": 0,
        "op": None,
    }
    assert (matmul["args"]["op"], matmul["args"]["ops"]) == ("k", ["q", "k"])
    assert (reorder["ts"], reorder["args"]["op"]) == (2e6, None)


def test_no_spans_make_an_empty_trace() -> None:
    assert chrome_trace([])["traceEvents"] == []


def test_a_distribution() -> None:
    latency = distribution([0.1 * n for n in range(11)])
    assert (latency.least, latency.most) == (0, 1)
    assert latency.mean == pytest.approx(0.5)
    assert latency.p50 == pytest.approx(0.5)
    assert latency.p90 == pytest.approx(0.9)
    assert latency.p99 == pytest.approx(0.99)
