"""Outputs of a call as arrays that files can hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pteron.errors import UsageError
from pteron.runtime.arrays import Array


def storable(outputs: Mapping[str, Any]) -> dict[str, Array]:
    """Arrays by the outputs' names.

    A classifier's dictionary from class to probability becomes two arrays: the probabilities, and
    ``NAME.classes`` with the classes in the same order. Raises UsageError for an output that is
    neither array, number nor text.
    """
    arrays: dict[str, Array] = {}
    for name, value in outputs.items():
        array = np.asarray(value)
        if array.dtype != object:
            arrays[name] = array
        elif array.size and all(isinstance(item, dict) for item in array.flat):
            arrays |= _probabilities(name, array)
        else:
            raise UsageError(f"output '{name}' is no array: a file cannot hold it")
    return arrays


def _probabilities(name: str, dictionaries: Array) -> dict[str, Array]:
    classes = list(dictionaries.flat[0])
    rows = [[item[label] for label in classes] for item in dictionaries.flat]
    shape = (*dictionaries.shape, len(classes))
    return {
        name: np.array(rows, np.float32).reshape(shape),
        f"{name}.classes": np.array(classes),
    }
