"""What each segment of a program file is for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from pteron.schema.program import DataLocation, Program


def segment_uses(program: Program) -> dict[int, str]:
    """Segment index -> what refers to it; several referrers are joined by commas."""
    uses: dict[int, list[str]] = defaultdict(list)
    for index, use in _references(program):
        uses[index].append(use)
    return {index: ", ".join(found) for index, found in uses.items()}


def _references(program: Program) -> Iterator[tuple[int, str]]:
    if program.constant_segment is not None and program.constant_segment.offsets:
        yield program.constant_segment.segment_index, "constants"
    for group in program.mutable_data_segments or []:
        yield group.segment_index, "mutable data"
    for plan in program.execution_plan:
        for index, delegate in enumerate(plan.delegates):
            if delegate.processed.location == DataLocation.SEGMENT:
                yield delegate.processed.index, f"{plan.name}: delegate {index} ({delegate.id})"
    for named in program.named_data or []:
        yield named.segment_index, f"named data {named.key}"
