"""Spans in the Chrome trace format (``chrome://tracing``, Perfetto)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pteron.runtime.timeline import Span

_MICRO = 1e6


def chrome_trace(spans: Sequence[Span]) -> dict[str, Any]:
    """A trace with one complete event (``ph: X``) per instruction and per operation inside.

    ``ts`` and ``dur`` are microseconds, from the first span on. ``cat`` is ``delegate``,
    ``kernel`` or ``op``. ``args`` has the method, the instruction (index in the plan's chain), the
    delegate's index, and of an operation the output of the payload's operation (``op``; the last
    one of several that were fused, null for one that the engine put in), every one of them
    (``ops``), type and kernel. Engines tell how long operations took, not when they began: they
    are laid one after the other from the delegate's start.
    """
    origin = spans[0].start if spans else 0.0
    return {
        "displayTimeUnit": "ms",
        "traceEvents": [event for span in spans for event in _events(span, origin)],
    }


def _events(span: Span, origin: float) -> Iterator[dict[str, Any]]:
    place = span.place
    where = {
        "method": place.method,
        "instruction": place.instruction,
        "delegate": place.delegate,
    }
    start = span.start - origin
    yield _event(place.name, place.kind, start, span.seconds, where | {"op": None})
    for op in span.ops:
        arguments = where | {
            "op": op.ops[-1] if op.ops else None,
            "ops": list(op.ops),
            "type": op.type,
            "kernel": op.kernel,
        }
        yield _event(op.type, "op", start, op.seconds, arguments)
        start += op.seconds


def _event(
    name: str, category: str, start: float, seconds: float, arguments: dict[str, Any]
) -> dict[str, Any]:
    return {
        "name": name,
        "cat": category,
        "ph": "X",
        "ts": start * _MICRO,
        "dur": seconds * _MICRO,
        "pid": 1,
        "tid": 1 if category != "op" else 2,
        "args": arguments,
    }
