"""Executes an execution plan: delegate calls, moves and jumps, in the order of its chains."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pteron.dtypes import to_numpy
from pteron.errors import FormatError, UnsupportedError
from pteron.runtime.arrays import Array, convert
from pteron.schema.program import (
    DelegateCall,
    EValue,
    ExecutionPlan,
    FreeCall,
    JumpFalseCall,
    KernelCall,
    MoveCall,
    Null,
    Tensor,
    TensorShapeDynamism,
)

if TYPE_CHECKING:
    from pteron.files import PTEFile

DelegateFunction = Callable[[Sequence[Array]], list[Array]]


def refuse_undelegated(plan: ExecutionPlan) -> None:
    """Raise UnsupportedError, naming the operators, if a plan has kernel calls."""
    called = {
        instruction.instr_args.op_index
        for chain in plan.chains
        for instruction in chain.instructions
        if isinstance(instruction.instr_args, KernelCall)
    }
    if called:
        names = sorted({_operator_name(plan, index) for index in called})
        raise UnsupportedError(
            f"method '{plan.name}' has operators that no delegate took, and pteron runs delegated "
            f"programs only so far: {', '.join(names)}"
        )


def _operator_name(plan: ExecutionPlan, index: int) -> str:
    if not 0 <= index < len(plan.operators):
        raise FormatError(
            f"operator {index} of {len(plan.operators)}", where=f"method '{plan.name}'"
        )
    operator = plan.operators[index]
    return f"{operator.name}.{operator.overload}" if operator.overload else str(operator.name)


class Interpreter:
    """One method's values and the loop over its instructions. Serves one thread at a time."""

    def __init__(
        self, file: PTEFile, plan: ExecutionPlan, delegates: Sequence[DelegateFunction]
    ) -> None:
        self._plan = plan
        self._delegates = delegates
        self._first = [first_value(file, value) for value in plan.values]

    def __call__(self, inputs: list[Any]) -> list[Any]:
        """Run the plan on checked inputs; one value per output."""
        values = list(self._first)
        for index, value in zip(self._plan.inputs, inputs, strict=True):
            values[index] = value
        for chain in self._plan.chains:
            self._run(chain.instructions, values)
        return [self._output(index, values[index]) for index in self._plan.outputs]

    def _run(self, instructions: Sequence[Any], values: list[Any]) -> None:
        counter = 0
        while counter < len(instructions):
            step = instructions[counter].instr_args
            jump = self._handlers[type(step)](self, step, values)
            counter = counter + 1 if jump is None else jump

    def _delegate(self, step: DelegateCall, values: list[Any]) -> None:
        arguments = [values[index] for index in step.args]
        outputs = self._delegates[step.delegate_index](arguments)
        targets = step.args[len(step.args) - len(outputs) :]
        for index, output in zip(targets, outputs, strict=True):
            values[index] = output

    def _move(self, step: MoveCall, values: list[Any]) -> None:
        values[step.move_to] = values[step.move_from]

    def _jump_false(self, step: JumpFalseCall, values: list[Any]) -> int | None:
        return None if bool(values[step.cond_value_index]) else step.destination_instruction

    def _free(self, step: FreeCall, values: list[Any]) -> None:
        values[step.value_index] = None

    _handlers: Mapping[type, Callable[[Interpreter, Any, list[Any]], int | None]] = {
        DelegateCall: _delegate,
        MoveCall: _move,
        JumpFalseCall: _jump_false,
        FreeCall: _free,
    }

    def _output(self, index: int, value: Any) -> Any:
        """An output as the program declares it (Core ML hands some back in another dtype)."""
        declared = self._plan.values[index].val
        if not isinstance(declared, Tensor) or not isinstance(value, np.ndarray):
            return value
        static = declared.shape_dynamism == TensorShapeDynamism.STATIC
        shape = tuple(declared.sizes) if static else value.shape
        where = f"method '{self._plan.name}': output value {index}"
        return convert(value, to_numpy(declared.scalar_type), shape, where)


def first_value(file: PTEFile, value: EValue) -> Any:
    """What a value holds before the first instruction: a constant's array, a scalar, or None."""
    content = value.val
    if content is None or isinstance(content, Null):
        return None
    if isinstance(content, Tensor):
        data = file.data_of(content)
        if data is None:
            return None
        return np.frombuffer(data, to_numpy(content.scalar_type)).reshape(content.sizes)
    for field in ("int_val", "bool_val", "double_val", "string_val", "items"):
        if hasattr(content, field):
            return getattr(content, field)
    raise UnsupportedError(f"a value of type {type(content).__name__} cannot be run")
