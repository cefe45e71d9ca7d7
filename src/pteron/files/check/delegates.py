"""Delegates and their payloads."""

from __future__ import annotations

from collections.abc import Iterator

from pteron.files.check.finding import Finding, error, note, warning
from pteron.files.program_file import PTEFile
from pteron.schema.program import (
    BackendDelegate,
    DataLocation,
    DelegateCall,
    ExecutionPlan,
    Program,
)

_LOCATIONS = frozenset(DataLocation)


def check_delegates(file: PTEFile) -> Iterator[Finding]:
    """Payloads that are missing, empty or shared, and delegates that are never called."""
    program = file.program
    first: dict[tuple[int, int], str] = {}
    for number, plan in enumerate(program.execution_plan):
        called = _called(plan)
        for index, delegate in enumerate(plan.delegates):
            where = f"execution_plan[{number}].delegates[{index}]"
            yield from _check_delegate(delegate, program, where)
            place = delegate.processed.location, delegate.processed.index
            if first.setdefault(place, where) != where:
                yield note(f"{where}.processed", f"shares its payload with {first[place]}")
            if index not in called:
                yield warning(where, f"no instruction calls this {delegate.id!r:.60} delegate")


def _check_delegate(delegate: BackendDelegate, program: Program, where: str) -> Iterator[Finding]:
    place = delegate.processed
    if not delegate.id:
        yield error(f"{where}.id", "is empty")
    if place.location not in _LOCATIONS:
        yield error(f"{where}.processed.location", f"unknown value {place.location}")
    elif place.location == DataLocation.INLINE:
        inline = program.backend_delegate_data
        if place.index >= len(inline):
            yield error(f"{where}.processed.index", f"payload {place.index} of {len(inline)}")


def _called(plan: ExecutionPlan) -> set[int]:
    calls = (step.instr_args for chain in plan.chains for step in chain.instructions)
    return {call.delegate_index for call in calls if isinstance(call, DelegateCall)}
