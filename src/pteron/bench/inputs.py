"""Inputs made from a method's signature, for where nobody gave any."""

from __future__ import annotations

from typing import Any

import numpy as np

from pteron.errors import UsageError
from pteron.runtime.method import Method
from pteron.runtime.signature import UNBOUNDED, Parameter

_PLAIN: dict[str, Any] = {"int": 0, "float": 0.5, "bool": True, "none": None}


def random_inputs(method: Method, seed: int = 0) -> dict[str, Any]:
    """An argument per input, by name.

    Floats are normally distributed. Integers are 0, as a signature does not say what they may be
    (an index, a position, a token). A flexible axis has its largest size, or its smallest (at
    least 1) where it has no bound.
    """
    random = np.random.default_rng(seed)
    return {parameter.name: _value(parameter, random) for parameter in method.inputs}


def _value(parameter: Parameter, random: np.random.Generator) -> Any:
    if parameter.dtype is None:
        if parameter.kind not in _PLAIN:
            raise UsageError(f"input '{parameter.name}' is a {parameter.kind}: give inputs")
        return _PLAIN[parameter.kind]
    shape = [_size(*sizes) for sizes in zip(parameter.lowest, parameter.shape, strict=True)]
    if parameter.dtype.kind in "iub":
        return np.zeros(shape, parameter.dtype)
    return random.standard_normal(shape).astype(parameter.dtype)


def _size(lowest: int, highest: int) -> int:
    return max(lowest, 1) if highest == UNBOUNDED else highest
