"""Where a method refers to its values by index."""

from __future__ import annotations

from collections.abc import Callable

from pteron.errors import FormatError
from pteron.schema.program import (
    DelegateCall,
    ExecutionPlan,
    FreeCall,
    Instruction,
    IntList,
    JumpFalseCall,
    KernelCall,
    KernelTypes,
    MoveCall,
    OptionalTensorList,
    TensorList,
)

NONE = -1
"""Entry of an OptionalTensorList that stands for no tensor."""

Change = Callable[[int], int]


def change_references(plan: ExecutionPlan, change: Change) -> None:
    """Replace every index of a value by ``change(index)``, except those inside list values."""

    def each(indices: list[int]) -> list[int]:
        return [change(index) for index in indices]

    plan.inputs, plan.outputs = each(plan.inputs), each(plan.outputs)
    for chain in plan.chains:
        chain.inputs, chain.outputs = each(chain.inputs), each(chain.outputs)
        for instruction in chain.instructions:
            _change_instruction(instruction, change)


def _change_instruction(instruction: Instruction, change: Change) -> None:
    call = instruction.instr_args
    if isinstance(call, (KernelCall, DelegateCall)):
        call.args = [change(index) for index in call.args]
    elif isinstance(call, MoveCall):
        call.move_from, call.move_to = change(call.move_from), change(call.move_to)
    elif isinstance(call, JumpFalseCall):
        call.cond_value_index = change(call.cond_value_index)
    elif isinstance(call, FreeCall):
        call.value_index = change(call.value_index)


def change_items(value: KernelTypes | None, change: Change) -> None:
    """Replace every index of a value inside a list value by ``change(index)``."""
    if isinstance(value, (IntList, TensorList, OptionalTensorList)):
        optional = isinstance(value, OptionalTensorList)
        value.items = [i if optional and i == NONE else change(i) for i in value.items]


def used_values(plan: ExecutionPlan) -> set[int]:
    """Indices of all values that inputs, outputs, instructions, or lists among them refer to."""
    used: set[int] = set()
    found: list[int] = []

    def note(index: int) -> int:
        if not 0 <= index < len(plan.values):
            raise FormatError(
                f"refers to value {index} of {len(plan.values)}", where=f"method {plan.name!r}"
            )
        if index not in used:
            used.add(index)
            found.append(index)
        return index

    change_references(plan, note)
    while found:
        change_items(plan.values[found.pop()].val, note)
    return used
