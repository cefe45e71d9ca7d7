"""The methods of a program, found by name."""

from __future__ import annotations

from collections.abc import Iterable

from pteron.errors import UsageError
from pteron.schema.program import ExecutionPlan, Program
from pteron.suggestions import listed, meant


def require_methods(program: Program, names: Iterable[str]) -> None:
    """Raise :class:`UsageError` for the first name that no method has."""
    known = {plan.name: plan for plan in program.execution_plan}
    for name in names:
        if name not in known:
            hint = meant(name, known)
            raise UsageError(f"there is no method {name!r}{hint}; there are: {listed(known)}")


def find_plan(program: Program, name: str) -> ExecutionPlan:
    """The method of that name. Raises :class:`UsageError`."""
    require_methods(program, [name])
    return next(plan for plan in program.execution_plan if plan.name == name)


def is_constant_method(plan: ExecutionPlan) -> bool:
    """Whether a method only returns values that the file holds, as ``get_max_seq_len`` does."""
    return not plan.inputs and not any(chain.instructions for chain in plan.chains)
