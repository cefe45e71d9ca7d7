"""From which instruction to which a planned tensor's memory must be its own.

The format does not say it; it follows from the instructions. A kernel call's last argument is what
it returns, so that is what it writes. A tensor that is read without ever being written is a view
of what was last written at its place (ExecuTorch elides such ``view_copy`` calls), and prolongs it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from pteron.errors import FormatError
from pteron.files.mutable_buffers import state_values
from pteron.files.operators import operator_names
from pteron.schema.program import (
    DelegateCall,
    ExecutionPlan,
    FreeCall,
    InstructionArguments,
    JumpFalseCall,
    KernelCall,
    MoveCall,
    OptionalTensorList,
    TensorList,
)

BEFORE, AFTER = -1, sys.maxsize
"""Steps before the first instruction and after the last one."""

_VIEW = "executorch_prim::et_view"

Place = tuple[int, int]
"""Planned buffer and byte offset."""


def lifetimes(plan: ExecutionPlan, places: dict[int, Place]) -> dict[int, tuple[int, int]]:
    """First and last step of every tensor that owns its memory for a while.

    Args:
        places: where the planned tensors are, by value index.
    """
    return _Walk(plan, places).walk()


class _Walk:
    def __init__(self, plan: ExecutionPlan, places: dict[int, Place]) -> None:
        self._plan = plan
        self._places = places
        self._names = operator_names(plan)
        self._lives: dict[int, tuple[int, int]] = {}
        self._owners: dict[Place, int] = {}  # who last wrote at a place
        self._owner_of: dict[int, int] = {}  # a value, or the one it is a view of
        self._last_seen: dict[int, int] = {}

    def walk(self) -> dict[int, tuple[int, int]]:
        calls = [step.instr_args for chain in self._plan.chains for step in chain.instructions]
        for step, call in enumerate(calls):
            self._last_seen.update(dict.fromkeys(self._arguments(call), step))
        for index in self._plan.inputs:
            self._own(index, BEFORE)
        for index in self._states():
            self._own(index, BEFORE)
            self._use(index, AFTER)
        for step, call in enumerate(calls):
            self._step(call, step)
        for index in self._plan.outputs:
            for item in self._expand(index):
                self._use(item, AFTER)
        return self._lives

    def _states(self) -> list[int]:
        try:
            return [index for index, _ in state_values(self._plan)]
        except FormatError:
            return []  # what is wrong is found where indices are checked

    def _step(self, call: InstructionArguments | None, step: int) -> None:
        written = set(self._written(call, step))
        for index in self._arguments(call):
            if index not in self._owner_of:
                self._begin(index, index in written, step)
            self._use(index, step)

    def _begin(self, index: int, written: bool, step: int) -> None:
        place = self._places.get(index)
        if place is None:
            return
        if written or place not in self._owners:
            self._own(index, step)
        else:
            self._owner_of[index] = self._owners[place]

    def _own(self, index: int, step: int) -> None:
        place = self._places.get(index)
        if place is not None:
            self._owners[place] = self._owner_of[index] = index
            self._lives[index] = step, step

    def _use(self, index: int, step: int) -> None:
        owner = self._owner_of.get(index)
        if owner is not None:
            first, last = self._lives[owner]
            self._lives[owner] = first, max(last, step)

    def _written(self, call: InstructionArguments | None, step: int) -> Iterator[int]:
        """Values that a call writes for the first time."""
        if isinstance(call, KernelCall) and call.args:
            name = self._name(call.op_index)
            if not name.startswith(_VIEW) and not name.partition(".")[0].endswith("_"):
                yield from self._expand(call.args[-1])
        elif isinstance(call, DelegateCall):
            yield from self._written_by_delegate(call.args, step)
        elif isinstance(call, MoveCall):
            yield call.move_to

    def _written_by_delegate(self, args: Sequence[int], step: int) -> Iterator[int]:
        """Outputs come last; where they begin is not said, but they were not seen before."""
        for index in reversed(args):
            if index in self._owner_of:
                return
            owner = self._owners.get(self._places.get(index, (0, 0)))
            if owner is None or self._last_seen.get(owner, BEFORE) < step:
                yield index

    def _name(self, op_index: int) -> str:
        return self._names[op_index] if 0 <= op_index < len(self._names) else ""

    def _arguments(self, call: InstructionArguments | None) -> Iterator[int]:
        """Values that a call uses, with the items of lists."""
        if isinstance(call, (KernelCall, DelegateCall)):
            for index in call.args:
                yield from self._expand(index)
        elif isinstance(call, MoveCall):
            yield from (call.move_from, call.move_to)
        elif isinstance(call, JumpFalseCall):
            yield call.cond_value_index
        elif isinstance(call, FreeCall):
            yield call.value_index

    def _expand(self, index: int) -> Iterator[int]:
        yield index
        value = self._plan.values[index].val if 0 <= index < len(self._plan.values) else None
        if isinstance(value, (TensorList, OptionalTensorList)):
            yield from value.items
