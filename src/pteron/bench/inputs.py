"""Inputs made from a method's signature, for where nobody gave any."""

from __future__ import annotations

from typing import Any

import numpy as np

from pteron.errors import UsageError
from pteron.runtime.method import Method
from pteron.runtime.signature import Parameter

_PLAIN: dict[str, Any] = {"int": 0, "float": 0.5, "bool": True, "none": None}


def random_inputs(method: Method, seed: int = 0) -> dict[str, Any]:
    """An argument per input, by name.

    Floats are normally distributed. Integers are 0, as a signature does not say what they may be
    (an index, a position, a token). Shapes are the largest allowed; an axis without bound has its
    smallest size, at least 1.
    """
    random = np.random.default_rng(seed)
    return {parameter.name: _value(parameter, random) for parameter in method.inputs}


def _value(parameter: Parameter, random: np.random.Generator) -> Any:
    if parameter.dtype is None:
        if parameter.kind not in _PLAIN:
            raise UsageError(f"input '{parameter.name}' is a {parameter.kind}: give inputs")
        return _PLAIN[parameter.kind]
    shape = parameter.largest()
    if parameter.dtype.kind in "iub":
        return np.zeros(shape, parameter.dtype)
    return random.standard_normal(shape).astype(parameter.dtype)
