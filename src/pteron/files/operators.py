"""The operators of a plan, by full name."""

from __future__ import annotations

from collections.abc import Iterator

from pteron.errors import FormatError
from pteron.schema.program import ExecutionPlan, KernelCall


def operator_names(plan: ExecutionPlan) -> list[str]:
    """``aten::add.out`` for every operator, in the plan's order."""
    return [f"{op.name}.{op.overload}" if op.overload else str(op.name) for op in plan.operators]


def called_operators(plan: ExecutionPlan) -> list[str]:
    """Names of the operators that the plan's kernel calls use, each once, in order of use."""
    names = operator_names(plan)
    return list(dict.fromkeys(names[index] for index in _called(plan, len(names))))


def _called(plan: ExecutionPlan, count: int) -> Iterator[int]:
    for chain in plan.chains:
        for instruction in chain.instructions:
            call = instruction.instr_args
            if isinstance(call, KernelCall):
                if not 0 <= call.op_index < count:
                    raise FormatError(
                        f"a kernel call names operator {call.op_index} of {count}",
                        where=f"method '{plan.name}'",
                    )
                yield call.op_index
