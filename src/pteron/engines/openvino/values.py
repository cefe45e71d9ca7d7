"""What a name of a MIL program stands for while its block is translated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from pteron.engines.openvino.problem import OpProblem
from pteron.engines.openvino.quantised import Quantised
from pteron.engines.openvino.shared import shared_constant
from pteron.engines.openvino.types import AnyType

Output = Any  # openvino.Output, whose bindings carry no types


class Value:
    """A value: known now (:attr:`array`), or computed by the OpenVINO graph (:attr:`output`).

    A known value enters the graph only when an op asks for it as a tensor; a quantised one is
    written out only when an op asks for its elements.
    """

    def __init__(
        self,
        type: AnyType,
        array: NDArray[Any] | None = None,
        output: Output | None = None,
        quantised: Quantised | None = None,
    ) -> None:
        self.type = type
        self.output = output
        self.quantised = quantised
        self._array = array

    @property
    def array(self) -> NDArray[Any] | None:
        """Its elements where they are known."""
        if self._array is None and self.quantised is not None:
            self._array = self.quantised.expanded()
        return self._array

    def tensor(self) -> Output:
        """The value as an output of the OpenVINO graph."""
        if self.output is None:
            if self.array is None or self.array.dtype.kind in "UO":
                raise OpProblem(f"{self.type} cannot be used as a tensor")
            self.output = shared_constant(self.array).output(0)
        return self.output

    def weight(self) -> Output:
        """The value for an op that can do with quantised weights."""
        kept = None if self.quantised is None else self.quantised.kept()
        return self.tensor() if kept is None else kept.output(0)


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
