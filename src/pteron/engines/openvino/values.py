"""What a name of a MIL program stands for while its block is translated."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pteron.engines.openvino._import import opset, ov
from pteron.engines.openvino.problem import OpProblem
from pteron.engines.openvino.types import AnyType

Output = Any  # openvino.Output, whose bindings carry no types


@dataclass(eq=False)
class Value:
    """A value: known now (``array``), or computed by the OpenVINO graph (``output``).

    A known value enters the graph only when an op asks for it as a tensor.
    """

    type: AnyType
    array: NDArray[Any] | None = None
    output: Output | None = None

    def tensor(self) -> Output:
        """The value as an output of the OpenVINO graph."""
        if self.output is None:
            if self.array is None or self.array.dtype.kind in "UO":
                raise OpProblem(f"{self.type} cannot be used as a tensor")
            self.output = shared_constant(self.array).output(0)
        return self.output


@dataclass(eq=False)
class Classes:
    """An output of ``classify``: the likeliest class, or every class with its probability."""

    type: AnyType
    labels: list[Any]
    probabilities: Output


@dataclass(eq=False)
class State:
    """A state while its function is translated; a scope knows what it holds by now."""

    name: str
    type: AnyType
    variable: Any
    first: Output | None = None
    """What the variable held when the call began, once it was asked for."""


Named = Value | Classes | State
"""What a name can stand for."""


@dataclass(eq=False)
class _Memory:
    """Lets NumPy see read-only memory as writable, which OpenVINO demands and never uses."""

    array: NDArray[Any]
    __array_interface__: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        interface = dict(self.array.__array_interface__)
        interface["data"] = (interface["data"][0], False)
        self.__array_interface__ = interface


def shared_constant(array: NDArray[Any]) -> Any:
    """An OpenVINO constant over the array's own memory, which it keeps alive."""
    array = np.ascontiguousarray(array).reshape(array.shape)
    if array.size == 0:
        return opset.constant(array)
    return ov.op.Constant(np.asarray(_Memory(array)), shared_memory=True)
