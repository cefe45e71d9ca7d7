"""A tensor's elements from the words of the text form to where ``MIL.proto`` keeps them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from pteron.payloads.coreml.proto import mil_pb2 as mil
from pteron.payloads.packed import pack

# Types that have a list of their own in TensorValue; all others are bytes.
_LISTS: dict[int, str] = {
    mil.FLOAT32: "floats",
    mil.FLOAT64: "doubles",
    mil.BOOL: "bools",
    mil.STRING: "strings",
    mil.INT16: "ints",
    mil.UINT16: "ints",
    mil.INT32: "ints",
    mil.INT64: "longInts",
    mil.UINT64: "longInts",
}
_BOOLS = {"true": True, "false": False}
_FLOATS: dict[int, Any] = {
    mil.FLOAT16: np.float16,
    mil.FLOAT32: np.float32,
    mil.FLOAT64: np.float64,
    mil.BFLOAT16: ml_dtypes.bfloat16,
    mil.FLOAT8E4M3FN: ml_dtypes.float8_e4m3fn,
    mil.FLOAT8E5M2: ml_dtypes.float8_e5m2,
}


def encode(words: Sequence[str], dtype: int) -> mil.TensorValue:
    """The tensor value. Raises ValueError or OverflowError for a word that is no such element."""
    tensor = mil.TensorValue()
    elements = _elements(words, dtype)
    if dtype in _LISTS:
        held = getattr(tensor, _LISTS[dtype])
        held.SetInParent()
        held.values.extend(elements if dtype == mil.STRING else np.asarray(elements).tolist())
    else:
        tensor.bytes.values = _packed(np.asarray(elements), dtype)
    return tensor


def _elements(words: Sequence[str], dtype: int) -> Sequence[str] | NDArray[Any]:
    if dtype == mil.STRING:
        return words
    if dtype == mil.BOOL:
        return np.array([_bool(word) for word in words], np.bool_)
    if dtype in _FLOATS:
        numbers = np.array([_float(word) for word in words], np.float64)
        with np.errstate(over="ignore"):
            return numbers.astype(_FLOATS[dtype])
    return _integers(words, mil.DataType.Name(dtype).lower())


def _bool(word: str) -> bool:
    if word not in _BOOLS:
        raise ValueError(f"'{word:.40}' is neither true nor false")
    return _BOOLS[word]


def _float(word: str) -> float:
    hexadecimal = "x" in word
    return float.fromhex(word) if hexadecimal else float(word)


def _integers(words: Sequence[str], name: str) -> NDArray[Any]:
    bits = int(name.partition("int")[2])
    low, high = (0, 1 << bits) if name[0] == "u" else (-(1 << (bits - 1)), 1 << (bits - 1))
    numbers = [int(word) for word in words]
    if any(not low <= number < high for number in numbers):
        raise OverflowError(f"a number does not fit {name}")
    return np.array(numbers, name if bits >= 8 else np.int8 if low else np.uint8)


def _packed(elements: NDArray[Any], dtype: int) -> bytes:
    name = mil.DataType.Name(dtype)
    bits = int(name[-1]) if name in ("INT4", "UINT1", "UINT2", "UINT3", "UINT4", "UINT6") else 8
    return pack(elements, bits) if bits < 8 else elements.tobytes()
