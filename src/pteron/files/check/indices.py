"""Indices of a method: into its values, operators, delegates and instructions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pteron.files.check.finding import Finding, error, warning
from pteron.files.program_file import PTEFile
from pteron.schema.program import (
    Bool,
    Chain,
    DelegateCall,
    EValue,
    ExecutionPlan,
    FreeCall,
    InstructionArguments,
    Int,
    IntList,
    JumpFalseCall,
    KernelCall,
    MoveCall,
    OptionalTensorList,
    Tensor,
    TensorList,
)


def check_indices(file: PTEFile) -> Iterator[Finding]:
    """Indices that lead nowhere, or to a value of the wrong type."""
    for number, plan in enumerate(file.program.execution_plan):
        where = f"execution_plan[{number}]"
        count = len(plan.values)
        yield from _in_range(plan.inputs, count, f"{where}.inputs", "value")
        yield from _in_range(plan.outputs, count, f"{where}.outputs", "value")
        yield from _repeated_inputs(plan, where)
        for index, value in enumerate(plan.values):
            yield from _check_value(value, plan, f"{where}.values[{index}].val")
        if not plan.chains:
            yield error(f"{where}.chains", "the method has no instructions")
        for index, chain in enumerate(plan.chains):
            yield from _check_chain(chain, plan, f"{where}.chains[{index}]")


def _in_range(indices: Sequence[int], count: int, where: str, what: str) -> Iterator[Finding]:
    for position, index in enumerate(indices):
        if not 0 <= index < count:
            yield error(f"{where}[{position}]", f"{what} {index} of {count}")


def _repeated_inputs(plan: ExecutionPlan, where: str) -> Iterator[Finding]:
    seen: set[int] = set()
    for position, index in enumerate(plan.inputs):
        if index in seen:
            yield warning(f"{where}.inputs[{position}]", f"value {index} is an input twice")
        seen.add(index)


def _check_value(value: EValue, plan: ExecutionPlan, where: str) -> Iterator[Finding]:
    inner = value.val
    if inner is None:
        yield error(where, "has no type (union tag 0, or one of a newer schema)")
    elif isinstance(inner, IntList):
        yield from _items(inner.items, plan, f"{where}.items", (Int,))
    elif isinstance(inner, TensorList):
        yield from _items(inner.items, plan, f"{where}.items", (Tensor,))
    elif isinstance(inner, OptionalTensorList):
        present = [index for index in inner.items if index != -1]
        yield from _items(present, plan, f"{where}.items", (Tensor,))


def _items(
    indices: Sequence[int], plan: ExecutionPlan, where: str, kinds: tuple[type, ...]
) -> Iterator[Finding]:
    count = len(plan.values)
    for position, index in enumerate(indices):
        if not 0 <= index < count:
            yield error(f"{where}[{position}]", f"value {index} of {count}")
        elif not isinstance(plan.values[index].val, kinds):
            expected, found = kinds[0].__name__, type(plan.values[index].val).__name__
            yield error(f"{where}[{position}]", f"value {index} is a {found}, not a {expected}")


def _check_chain(chain: Chain, plan: ExecutionPlan, where: str) -> Iterator[Finding]:
    count = len(plan.values)
    yield from _in_range(chain.inputs, count, f"{where}.inputs", "value")
    yield from _in_range(chain.outputs, count, f"{where}.outputs", "value")
    for index, instruction in enumerate(chain.instructions):
        at = f"{where}.instructions[{index}].instr_args"
        if instruction.instr_args is None:
            yield error(at, "has no type (union tag 0, or one of a newer schema)")
        else:
            yield from _check_call(instruction.instr_args, plan, chain, at)
    traces = chain.stacktrace
    if traces and len(traces) != len(chain.instructions):
        yield warning(
            f"{where}.stacktrace", f"{len(traces)} for {len(chain.instructions)} instructions"
        )


def _check_call(
    call: InstructionArguments, plan: ExecutionPlan, chain: Chain, where: str
) -> Iterator[Finding]:
    count = len(plan.values)
    if isinstance(call, KernelCall):
        operators = len(plan.operators)
        yield from _one(call.op_index, operators, f"{where}.op_index", "operator")
        yield from _in_range(call.args, count, f"{where}.args", "value")
    elif isinstance(call, DelegateCall):
        delegates = len(plan.delegates)
        yield from _one(call.delegate_index, delegates, f"{where}.delegate_index", "delegate")
        yield from _in_range(call.args, count, f"{where}.args", "value")
    elif isinstance(call, MoveCall):
        yield from _one(call.move_from, count, f"{where}.move_from", "value")
        yield from _one(call.move_to, count, f"{where}.move_to", "value")
    elif isinstance(call, FreeCall):
        yield from _one(call.value_index, count, f"{where}.value_index", "value")
    else:
        yield from _check_jump(call, plan, chain, where)


def _check_jump(
    call: JumpFalseCall, plan: ExecutionPlan, chain: Chain, where: str
) -> Iterator[Finding]:
    index, at = call.cond_value_index, f"{where}.cond_value_index"
    steps = len(chain.instructions) + 1  # one past the last ends the method
    yield from _one(call.destination_instruction, steps, f"{where}.destination", "instruction")
    yield from _one(index, len(plan.values), at, "value")
    condition = plan.values[index].val if 0 <= index < len(plan.values) else None
    if condition is not None and not isinstance(condition, (Bool, Tensor)):
        yield error(at, f"value {index} is a {type(condition).__name__}, not a Bool")


def _one(index: int, count: int, where: str, what: str) -> Iterator[Finding]:
    if not 0 <= index < count:
        yield error(where, f"{what} {index} of {count}")
