"""Inputs and outputs of a method: what is expected, and whether what came fits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pteron.errors import UsageError
from pteron.runtime.arrays import Array, as_array

UNBOUNDED = -1


@dataclass(frozen=True)
class Parameter:
    """One input or output of a method.

    Attributes:
        name: the name it is called by.
        dtype: NumPy dtype, or ``None`` for a value that is no tensor (``kind`` then says what).
        shape: one size per axis; for a flexible axis the largest size (-1: unbounded).
        lowest: smallest size per axis; equal to ``shape`` where the axis is static.
        kind: ``tensor``, ``int``, ``float``, ``bool``, ``str`` or ``none``.
    """

    name: str
    dtype: np.dtype[Any] | None
    shape: tuple[int, ...] = ()
    lowest: tuple[int, ...] = ()
    kind: str = "tensor"

    def __str__(self) -> str:
        if self.dtype is None:
            return f"{self.name}: {self.kind}"
        axes = map(_axis, self.lowest, self.shape)
        return f"{self.name}: {self.dtype.name}[{', '.join(axes)}]"

    def accepts(self, shape: tuple[int, ...]) -> bool:
        """Whether a tensor of this shape may be passed."""
        if shape == self.shape:
            return True
        return len(shape) == len(self.shape) and all(
            low <= size and (high == UNBOUNDED or size <= high)
            for size, low, high in zip(shape, self.lowest, self.shape, strict=True)
        )

    def largest(self) -> tuple[int, ...]:
        """The largest shape; an axis without bound has its smallest size, at least 1."""
        sizes = zip(self.lowest, self.shape, strict=True)
        return tuple(max(low, 1) if high == UNBOUNDED else high for low, high in sizes)

    def left_out(self) -> Array | None:
        """What stands for an input that is not given; None for one that must be."""
        return None

    def read(self, value: object, where: str) -> Array:
        """An argument as an array, not yet checked; raises :class:`UsageError` for anything else.

        Its bytes are in this machine's order. Only for parameters with a dtype.
        """
        if isinstance(value, np.ndarray):
            array = value
        else:
            assert self.dtype is not None
            array = as_array(value, self.dtype, f"{where}: input '{self.name}'")
        return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def _axis(low: int, high: int) -> str:
    if low == high:
        return str(high)
    return f"{low}.." if high == UNBOUNDED else f"{low}..{high}"


def bind(
    parameters: Sequence[Parameter],
    args: Sequence[object],
    kwargs: Mapping[str, object],
    where: str,
) -> list[Any]:
    """Order, convert and check the arguments of a call.

    Returns one value per parameter: an array for a tensor, a Python number otherwise.
    Raises :class:`UsageError` that says what was expected and what came.
    """
    if kwargs or len(args) != len(parameters):
        args = _in_order(parameters, args, kwargs, where)
    return [check(p, value, where) for p, value in zip(parameters, args, strict=True)]


def _in_order(
    parameters: Sequence[Parameter],
    args: Sequence[object],
    kwargs: Mapping[str, object],
    where: str,
) -> list[object]:
    """One argument per parameter, from those by position, those by name and defaults."""
    if len(args) > len(parameters):
        raise UsageError(f"{where}: takes {_listed(parameters)}, got {len(args)} arguments")
    values: dict[str, object] = {p.name: a for p, a in zip(parameters, args, strict=False)}
    for name, value in kwargs.items():
        if name in values:
            raise UsageError(f"{where}: input '{name}' was given twice")
        values[name] = value
    values = {p.name: p.left_out() for p in parameters if p.left_out() is not None} | values
    known = {p.name for p in parameters}
    if unknown := [name for name in values if name not in known]:
        raise UsageError(f"{where}: no input '{unknown[0]}'; it takes {_listed(parameters)}")
    if missing := [p.name for p in parameters if p.name not in values]:
        takes = _listed(parameters)
        raise UsageError(f"{where}: input '{missing[0]}' is missing; it takes {takes}")
    return [values[p.name] for p in parameters]


def check(parameter: Parameter, value: object, where: str) -> Any:
    """One argument, converted to what the parameter holds; raises :class:`UsageError`."""
    if parameter.dtype is None:
        return _check_scalar(parameter, value, where)
    array = parameter.read(value, where)
    if array.dtype != parameter.dtype or not parameter.accepts(array.shape):
        came = f"{array.dtype.name}[{', '.join(map(str, array.shape))}]"
        raise UsageError(f"{where}: expected {parameter}, got {came}")
    return array


_SCALARS: dict[str, tuple[type, ...]] = {
    "int": (int, np.integer),
    "float": (float, int, np.floating),
    "bool": (bool, np.bool_),
    "str": (str,),
    "none": (type(None),),
}


def _check_scalar(parameter: Parameter, value: object, where: str) -> object:
    if not isinstance(value, _SCALARS[parameter.kind]):
        place = f"{where}: input '{parameter.name}'"
        raise UsageError(f"{place}: expected {parameter.kind}, got {type(value).__name__}")
    return value


def _listed(parameters: Sequence[Parameter]) -> str:
    return "(" + ", ".join(map(str, parameters)) + ")" if parameters else "no inputs"
