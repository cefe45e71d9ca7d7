"""Whether two programs can live in the same shared memory without disturbing each other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pteron.edit.memory_ids import FIRST_SHARED
from pteron.errors import UsageError
from pteron.files import Parts, byte_size
from pteron.files.mutable_buffers import state_values
from pteron.files.tensors import is_external
from pteron.schema.program import ExecutionPlan, KernelCall, ScalarType, Tensor


@dataclass(frozen=True)
class _State:
    """A mutable buffer in shared memory: where it is and what it is."""

    memory_id: int
    start: int
    end: int
    name: str | None
    scalar_type: ScalarType
    sizes: tuple[int, ...]
    dim_order: tuple[int, ...]
    first: int
    """Which of the joined first values it begins with; 0 for none."""

    def __str__(self) -> str:
        return f"{self.name or 'a state'} (memory {self.memory_id}, bytes {self.start}-{self.end})"

    def overlaps(self, tensor: Tensor) -> bool:
        """Whether a planned tensor has bytes in common with it."""
        place = tensor.allocation_info
        if place is None or place.memory_id != self.memory_id:
            return False
        start = place.memory_offset
        return start < self.end and self.start < start + byte_size(tensor)

    def is_same(self, tensor: Tensor) -> bool:
        """Whether a planned tensor that overlaps it has its very place and layout."""
        place = tensor.allocation_info
        return place is not None and (
            (place.memory_offset, tensor.scalar_type, tuple(tensor.sizes), tuple(tensor.dim_order))
            == (self.start, self.scalar_type, self.sizes, self.dim_order)
        )


def require_same_memory(one: Parts, other: Parts) -> None:
    """Raise :class:`UsageError` unless every state of one program has its place in the other too.

    A state must be at the same place with the same layout and first value wherever both have it,
    and nothing else of the other program may lie on it. Both must refer to joined blobs.
    """
    ours, theirs = list(_states(one)), list(_states(other))
    for state in theirs:
        for known in ours:
            _require_equal(known, state)
    _require_room(ours, other)
    _require_room(theirs, one)


def _require_equal(known: _State, state: _State) -> None:
    same_place = (known.memory_id, known.start) == (state.memory_id, state.start)
    same_name = known.name is not None and known.name == state.name
    if not (same_place or same_name):
        return
    other_name = None not in (known.name, state.name) and known.name != state.name
    alike = (known.end, known.scalar_type, known.sizes, known.dim_order) == (
        state.end,
        state.scalar_type,
        state.sizes,
        state.dim_order,
    )
    if not same_place or other_name or not alike:
        raise UsageError(f"memory cannot be shared: {known} and {state} are not the same state")
    if known.first and state.first and known.first != state.first:
        raise UsageError(f"memory cannot be shared: {known} has two first values")


def _require_room(states: list[_State], parts: Parts) -> None:
    for plan in parts.program.execution_plan:
        results = _results(plan)
        for index, value in enumerate(plan.values):
            for state in states:
                tensor = value.val
                if not isinstance(tensor, Tensor) or not state.overlaps(tensor):
                    continue
                if index in results or not state.is_same(tensor):
                    raise UsageError(
                        f"memory cannot be shared: method {plan.name!r} has something else where"
                        f" {state} lies"
                    )


def _results(plan: ExecutionPlan) -> set[int]:
    """Values that a kernel computes: none of them is a state that is only read or updated."""
    states = {index for index, _ in state_values(plan)}
    steps = [step.instr_args for chain in plan.chains for step in chain.instructions]
    return {step.args[-1] for step in steps if isinstance(step, KernelCall) and step.args} - states


def _states(parts: Parts) -> Iterator[_State]:
    for plan in parts.program.execution_plan:
        yield from _states_of(plan)


def _states_of(plan: ExecutionPlan) -> Iterator[_State]:
    for index, name in state_values(plan):
        tensor = plan.values[index].val
        assert isinstance(tensor, Tensor) and tensor.allocation_info is not None
        place = tensor.allocation_info
        if place.memory_id >= FIRST_SHARED:
            yield _State(
                place.memory_id,
                place.memory_offset,
                place.memory_offset + byte_size(tensor),
                name,
                tensor.scalar_type,
                tuple(tensor.sizes),
                tuple(tensor.dim_order),
                0 if is_external(tensor) else tensor.data_buffer_idx,
            )
