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
    return list(dict.fromkeys(name for name, _ in kernel_calls(plan)))


def kernel_calls(plan: ExecutionPlan) -> Iterator[tuple[str, KernelCall]]:
    """Every kernel call with its operator's name.

    Raises :class:`FormatError` for one that names an operator which the plan does not have.
    """
    names = operator_names(plan)
    for chain in plan.chains:
        for instruction in chain.instructions:
            call = instruction.instr_args
            if isinstance(call, KernelCall):
                if not 0 <= call.op_index < len(names):
                    raise FormatError(
                        f"a kernel call names operator {call.op_index} of {len(names)}",
                        where=f"method '{plan.name}'",
                    )
                yield names[call.op_index], call
