"""How an op declares its inputs: annotations that say what kind of value, checked before use.

Two sorts: *tensors* enter the OpenVINO graph and reach the function as outputs of it; *known*
values must be constants of the program and reach the function as Python values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from pteron.engines.openvino.problem import OpProblem
from pteron.engines.openvino.types import TensorType
from pteron.engines.openvino.values import Named, Value

_FLOATS = frozenset({"float16", "float32"})
_INTS = frozenset({"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32"})
_BOOL = frozenset({"bool"})


class Declared:
    """What one input of an op may be."""

    variadic = False

    def take(self, value: Named) -> Any:
        """Turn a program's value into what the op's function gets; OpProblem if it does not fit."""
        raise NotImplementedError


@dataclass(frozen=True)
class TensorInput(Declared):
    """A tensor of one of these element types. Inputs of one ``domain`` must share theirs."""

    dtypes: frozenset[str]
    domain: str = ""
    variadic: bool = False

    def take(self, value: Named) -> Any:
        self.check(value)
        assert isinstance(value, Value)
        return value.tensor()

    def check(self, value: Named) -> None:
        """An OpProblem unless the value is a tensor of a right type."""
        dtype = self.dtype(value)
        if dtype not in self.dtypes:
            raise OpProblem(f"must be {' or '.join(sorted(self.dtypes))}, not {dtype}")

    @staticmethod
    def dtype(value: Named) -> str:
        """Element type of a tensor value; anything else is an OpProblem."""
        if not isinstance(value, Value) or not isinstance(value.type, TensorType):
            raise OpProblem(f"must be a tensor, not {value.type}")
        return value.type.dtype


class WeightInput(TensorInput):
    """A tensor that may also be quantised weights, in the form in which OpenVINO keeps them."""

    def take(self, value: Named) -> Any:
        self.check(value)
        assert isinstance(value, Value)
        return value.weight()


@dataclass(frozen=True)
class KnownInput(Declared):
    """A constant, handed over as what ``convert`` makes of its array."""

    convert: Callable[[NDArray[Any]], Any]

    def take(self, value: Named) -> Any:
        if not isinstance(value, Value) or value.array is None:
            raise OpProblem("must be a constant")
        return self.convert(value.array)


class RawInput(Declared):
    """The program's value itself: states, lists, and ops that treat known values apart."""

    def take(self, value: Named) -> Any:
        return value


class RawInputs(RawInput):
    variadic = True


class ContextInput(Declared):
    """Not an input of the op: the translator, for ops with blocks, states or declared types."""


def _scalar(kinds: str, make: Callable[[Any], Any]) -> Callable[[NDArray[Any]], Any]:
    def convert(array: NDArray[Any]) -> Any:
        if array.size != 1 or array.dtype.kind not in kinds:
            raise OpProblem(f"must be one {make.__name__}, not {_describe(array)}")
        return make(array.reshape(()).item())

    return convert


def _vector(kinds: str, make: Callable[[Any], Any]) -> Callable[[NDArray[Any]], Any]:
    def convert(array: NDArray[Any]) -> Any:
        if array.size and array.dtype.kind not in kinds:
            raise OpProblem(f"must be a list of {make.__name__}, not {_describe(array)}")
        return [make(item) for item in array.reshape(-1).tolist()]

    return convert


def _describe(array: NDArray[Any]) -> str:
    return f"{array.dtype}{list(array.shape)}"


def _string(value: Any) -> str:
    return str(value)


_string.__name__ = "string"

Any_ = frozenset(_FLOATS | _INTS | _BOOL)
Tensor = Annotated[Any, TensorInput(Any_)]
TensorT = Annotated[Any, TensorInput(Any_, "T")]
Floats = Annotated[Any, TensorInput(_FLOATS)]
FloatsT = Annotated[Any, TensorInput(_FLOATS, "T")]
Numbers = Annotated[Any, TensorInput(_FLOATS | _INTS)]
NumbersT = Annotated[Any, TensorInput(_FLOATS | _INTS, "T")]
Weights = Annotated[Any, WeightInput(_FLOATS | _INTS)]
Ints = Annotated[Any, TensorInput(_INTS)]
Bools = Annotated[Any, TensorInput(_BOOL)]
BoolsOrFloats = Annotated[Any, TensorInput(_FLOATS | _BOOL)]
Tensors = Annotated[Sequence[Any], TensorInput(Any_, "T", variadic=True)]
MixedTensors = Annotated[Sequence[Any], TensorInput(Any_, variadic=True)]

Int = Annotated[int, KnownInput(_scalar("iu", int))]
Number = Annotated[float, KnownInput(_scalar("iufb", float))]
Flag = Annotated[bool, KnownInput(_scalar("b", bool))]
Text = Annotated[str, KnownInput(_scalar("U", _string))]
IntList = Annotated[list[int], KnownInput(_vector("iu", int))]
FlagList = Annotated[list[bool], KnownInput(_vector("b", bool))]
Array = Annotated[NDArray[Any], KnownInput(np.asarray)]

Raw = Annotated[Any, RawInput()]
Raws = Annotated[Sequence[Any], RawInputs()]
Context = Annotated[Any, ContextInput()]
