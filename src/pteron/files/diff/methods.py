"""Comparing what two methods of one name do, step by step and value by value."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pteron.errors import FormatError
from pteron.files.as_json import as_json
from pteron.files.diff.change import Change
from pteron.files.diff.compare import compare
from pteron.files.methods import Method
from pteron.files.operators import operator_names
from pteron.schema.program import DelegateCall, KernelCall, Tensor


def compare_methods(before: Method, after: Method) -> Iterator[Change]:
    """The first and last step that differ and all between; if none do, values and memory plan.

    Values have no names: where the steps differ, nothing says which ones correspond.
    """
    where = ("methods", before.name)
    ours, theirs = _steps(before), _steps(after)
    if ours != theirs:
        yield _differing_steps(ours, theirs, where)
        return
    yield from compare(_value_facts(before), _value_facts(after), where)


def _differing_steps(ours: list[str], theirs: list[str], where: tuple[str, ...]) -> Change:
    shorter = min(len(ours), len(theirs))
    head = next((i for i in range(shorter) if ours[i] != theirs[i]), shorter)
    tail = next((i for i in range(shorter - head) if ours[-1 - i] != theirs[-1 - i]), None)
    kept = shorter - head if tail is None else tail
    before, after = ours[head : len(ours) - kept], theirs[head : len(theirs) - kept]
    return Change((*where, "steps", f"from {head}"), "changed", before, after)


def _steps(method: Method) -> list[str]:
    names = operator_names(method.plan)
    chains = method.plan.chains
    return [_step(step.instr_args, names) for chain in chains for step in chain.instructions]


def _step(step: Any, names: list[str]) -> str:
    if isinstance(step, KernelCall):
        if not 0 <= step.op_index < len(names):
            raise FormatError(f"a kernel call names operator {step.op_index} of {len(names)}")
        return names[step.op_index]
    if isinstance(step, DelegateCall):
        return f"delegate {step.delegate_index}"
    return type(step).__name__ if step is not None else "unknown"


def _value_facts(method: Method) -> dict[str, Any]:
    """Arguments of the steps, values, and where tensors are in planned memory."""
    plan = method.plan
    steps = [step.instr_args for chain in plan.chains for step in chain.instructions]
    values = [entry.val for entry in plan.values]
    return {
        "arguments": {f"step {i}": as_json(s) for i, s in enumerate(steps) if s is not None},
        "values": {f"value {i}": _value(value) for i, value in enumerate(values)},
        "memory_plan": {
            f"value {i}": as_json(value.allocation_info)
            for i, value in enumerate(values)
            if isinstance(value, Tensor) and value.allocation_info is not None
        },
    }


def _value(value: Any) -> Any:
    """A number or text by itself; of a tensor all but where its data is."""
    if value is None:
        return None
    fields = as_json(value)
    if isinstance(value, Tensor):
        return {name: fields[name] for name in fields if name not in _PLACES}
    return next(iter(fields.values())) if len(fields) == 1 else fields


_PLACES = ("allocation_info", "data_buffer_idx")
