"""Inputs of a call from arrays by name, as a file holds them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pteron.errors import UsageError
from pteron.runtime.arrays import Array
from pteron.runtime.signature import Parameter


def named_inputs(
    arrays: Mapping[str, Array], parameters: Sequence[Parameter], where: str
) -> dict[str, Any]:
    """Inputs by name, or by position where the keys are ``arr_0``, ``arr_1``, ...

    Those are the names that ``numpy.savez`` gives to arrays without one. A single array serves a
    single input whatever its key. An input that is a plain number takes an array of one element;
    one that may be left out may be missing. Raises UsageError, naming ``where`` the arrays come
    from, where they are not the inputs.
    """
    arrays = _renamed(arrays, parameters)
    names = [parameter.name for parameter in parameters]
    needed = {p.name for p in parameters if p.left_out() is None}
    if not needed <= set(arrays) <= set(names):
        raise UsageError(
            f"{where} holds {', '.join(arrays) or 'nothing'};"
            f" the inputs are {', '.join(map(_described, parameters)) or 'none'}"
        )
    return {p.name: _plain(arrays[p.name], p) for p in parameters if p.name in arrays}


def _renamed(arrays: Mapping[str, Array], parameters: Sequence[Parameter]) -> Mapping[str, Array]:
    """Arrays without names of their own under those of the inputs at their positions."""
    names = [parameter.name for parameter in parameters]
    positions = [f"arr_{index}" for index in range(len(arrays))]
    if len(arrays) == len(names) == 1:
        return dict(zip(names, arrays.values(), strict=True))
    if set(arrays) != set(positions) or set(arrays) <= set(names) or len(arrays) > len(names):
        return arrays
    return {name: arrays[key] for name, key in zip(names, positions, strict=False)}


def _described(parameter: Parameter) -> str:
    return parameter.name + ("" if parameter.left_out() is None else " (may be left out)")


def _plain(array: Array, parameter: Parameter) -> Any:
    return array.item() if parameter.dtype is None and array.size == 1 else array
