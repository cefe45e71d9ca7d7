"""Executes an execution plan: kernel and delegate calls, moves and jumps, in its chains' order.

Every instruction is turned into a small closure once, when the method is prepared; running is a
loop over those. Values are NumPy arrays; where the plan has kernel calls they lie in planned
memory, as in ExecuTorch's own runtime, since a memory plan may let a view share its base's bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pteron.dtypes import to_numpy
from pteron.errors import FormatError
from pteron.files.operators import operator_names
from pteron.runtime.arrays import Array, convert
from pteron.runtime.kernels import Kernel
from pteron.runtime.memory import PlannedMemory
from pteron.runtime.rows import WRITE_ROW, write_row
from pteron.runtime.values import first_value, is_dynamic
from pteron.schema.program import (
    DelegateCall,
    ExecutionPlan,
    FreeCall,
    JumpFalseCall,
    KernelCall,
    MoveCall,
    Tensor,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pteron.runtime.values import DataOf

DelegateFunction = Callable[[Sequence[Array]], list[Array]]
Values = list[Any]
Step = Callable[[Values], "int | None"]
"""Does one instruction; returns where to go on if not at the next one."""
Setter = Callable[[Values, Any], None]
"""Gives one of the values what it holds from here on."""
Watch = Callable[[int, object, Step], Step]
"""Wraps the step of an instruction, given its index in its chain, and what it is."""


class Interpreter:
    """One method of one stream. Serves one thread at a time."""

    def __init__(
        self,
        plan: ExecutionPlan,
        data_of: DataOf,
        memory: PlannedMemory | None,
        kernels: Mapping[str, Kernel],
        delegates: Sequence[DelegateFunction],
        watch: Watch | None = None,
    ) -> None:
        self._plan = plan
        self._memory = memory
        self._kernels = kernels
        self._operators = operator_names(plan)
        self._delegates = delegates
        self._values = [first_value(value, data_of, memory) for value in plan.values]
        self._watch = watch
        self._set_inputs = [self._setter(index) for index in plan.inputs]
        self._chains = [
            [self._watched(index, i.instr_args) for index, i in enumerate(c.instructions)]
            for c in plan.chains
        ]

    def __call__(self, inputs: list[Any]) -> list[Any]:
        """Run the plan on checked inputs; one value per output, each the caller's own."""
        values = list(self._values)
        for put, value in zip(self._set_inputs, inputs, strict=True):
            put(values, value)
        for steps in self._chains:
            _run(steps, values)
        return [self._output(index, values[index]) for index in self._plan.outputs]

    def value(self, index: int) -> Any:
        """What a value holds between calls: for planned memory, the memory itself."""
        return self._values[index]

    def _watched(self, index: int, instruction: object) -> Step:
        step = self._step(instruction)
        return step if self._watch is None else self._watch(index, instruction, step)

    def _step(self, instruction: object) -> Step:
        match instruction:
            case KernelCall():
                return self._kernel_call(instruction)
            case DelegateCall():
                return self._delegate_call(instruction)
            case MoveCall():
                return _move(instruction.move_from, instruction.move_to)
            case JumpFalseCall():
                return _jump_false(
                    instruction.cond_value_index, instruction.destination_instruction
                )
            case FreeCall():
                return lambda values: None  # arenas are freed with the stream
            case _:
                kind = type(instruction).__name__
                raise FormatError(f"cannot run {kind}", where=f"method '{self._plan.name}'")

    def _kernel_call(self, call: KernelCall) -> Step:
        if self._operators[call.op_index] == WRITE_ROW:
            whole = self._values[call.args[0]]
            return lambda values: write_row(whole, values, call.args)
        kernel = self._kernels[self._operators[call.op_index]]
        gather = [_getter(self._plan, index) for index in call.args]
        dynamic = [p for p, i in enumerate(call.args) if is_dynamic(self._plan.values[i])]
        target = call.args[-1]

        def step(values: Values) -> None:
            result = kernel([get(values) for get in gather], dynamic)
            _store_result(self._plan, values, target, result)

        return step

    def _delegate_call(self, call: DelegateCall) -> Step:
        function, indices = self._delegates[call.delegate_index], call.args
        setters = [self._output_setter(index) for index in indices]

        def step(values: Values) -> None:
            outputs = function([values[index] for index in indices])
            for put, output in zip(setters[len(setters) - len(outputs) :], outputs, strict=True):
                put(values, output)

        return step

    def _setter(self, index: int) -> Setter:
        """How to give a value an array: into its planned memory if it has one, else as it is."""
        declared, memory = self._plan.values[index].val, self._memory
        if memory is None or not isinstance(declared, Tensor) or declared.allocation_info is None:
            return lambda values, value: values.__setitem__(index, value)
        whole = None if is_dynamic(self._plan.values[index]) else memory.view(declared)

        def put(values: Values, value: Any) -> None:
            values[index] = memory.view(declared, value.shape) if whole is None else whole
            np.copyto(values[index], value)

        return put

    def _output_setter(self, index: int) -> Setter:
        """The same for a delegate's output, which Core ML may hand back in another dtype."""
        declared, put = self._plan.values[index].val, self._setter(index)
        if not isinstance(declared, Tensor):
            return put
        dtype = to_numpy(declared.scalar_type)
        shape = None if is_dynamic(self._plan.values[index]) else tuple(declared.sizes)
        where = f"method '{self._plan.name}': value {index}"
        return lambda values, value: put(
            values, convert(value, dtype, value.shape if shape is None else shape, where)
        )

    def _output(self, index: int, value: Any) -> Any:
        planned = self._memory is not None and isinstance(value, np.ndarray)
        return value.copy() if planned else value


def _run(steps: Sequence[Step], values: Values) -> None:
    counter = 0
    while counter < len(steps):
        jump = steps[counter](values)
        counter = counter + 1 if jump is None else jump


def _move(source: int, target: int) -> Step:
    def step(values: Values) -> None:
        values[target] = values[source]

    return step


def _jump_false(condition: int, destination: int) -> Step:
    """A tensor is true if all its elements are, as in ExecuTorch's runtime."""
    return lambda values: None if np.all(values[condition]) else destination


def _getter(plan: ExecutionPlan, index: int) -> Callable[[Values], Any]:
    """How to fetch an argument: lists of values are gathered anew at every call."""
    content = plan.values[index].val
    kind = type(content).__name__
    if kind in ("IntList", "TensorList", "OptionalTensorList"):
        items = list(content.items)  # type: ignore[union-attr]
        return lambda values: [None if item < 0 else values[item] for item in items]
    return lambda values: values[index]


def _store_result(plan: ExecutionPlan, values: Values, target: int, result: Any) -> None:
    """Put what a kernel returned where its last argument says."""
    content = plan.values[target].val
    if isinstance(result, list) and type(content).__name__ == "TensorList":
        for index, item in zip(content.items, result, strict=True):  # type: ignore[union-attr]
            values[index] = item
    elif result is not None:
        values[target] = result
