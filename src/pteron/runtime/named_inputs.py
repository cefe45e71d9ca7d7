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
    """Inputs by name. A single array serves a single input whatever its key.

    An input that is a plain number takes an array of one element. Raises UsageError, naming
    ``where`` the arrays come from, unless the keys are the inputs' names.
    """
    names = [parameter.name for parameter in parameters]
    if len(arrays) == 1 and len(parameters) == 1:
        arrays = dict(zip(names, arrays.values(), strict=True))
    if set(arrays) != set(names):
        raise UsageError(
            f"{where} holds {', '.join(arrays) or 'nothing'}; the inputs are {', '.join(names)}"
        )
    return {p.name: _plain(arrays[p.name], p) for p in parameters}


def _plain(array: Array, parameter: Parameter) -> Any:
    return array.item() if parameter.dtype is None and array.size == 1 else array
