"""From the spans of some calls to the cost of each instruction and type of operation."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from pteron.bench.result import InstructionCost, OpCost
from pteron.engines.base import OpTime
from pteron.runtime.timeline import Place, Span


def instruction_costs(spans: Sequence[Span]) -> tuple[InstructionCost, ...]:
    """Averages over calls, in the plan's order."""
    by_place: dict[Place, list[Span]] = defaultdict(list)
    for span in spans:
        by_place[span.place].append(span)
    ordered = sorted(by_place.items(), key=lambda item: item[0].instruction)
    return tuple(_cost(place, found) for place, found in ordered)


def _cost(place: Place, spans: Sequence[Span]) -> InstructionCost:
    seconds = sum(span.seconds for span in spans) / len(spans)
    ops = op_costs([op for span in spans for op in span.ops], len(spans))
    return InstructionCost(place.instruction, place.kind, place.name, place.delegate, seconds, ops)


def op_costs(times: Sequence[OpTime], calls: int) -> tuple[OpCost, ...]:
    """Operations of one type and kernel together, the dearest first."""
    groups: dict[tuple[str, str], list[float]] = defaultdict(list)
    for time in times:
        groups[time.type, time.kernel].append(time.seconds)
    costs = [
        OpCost(type, kernel, _per_call(len(seconds), calls), sum(seconds) / calls)
        for (type, kernel), seconds in groups.items()
    ]
    return tuple(sorted(costs, key=lambda cost: -cost.seconds))


def _per_call(events: int, calls: int) -> int:
    """Operations per call; an engine may leave one out of a call in which it took no time."""
    return max(1, round(events / calls))
