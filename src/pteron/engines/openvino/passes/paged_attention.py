"""OpenVINO's paged attention, for one sequence whose pages lie in order.

The operation is what OpenVINO's serving of language models runs on; its Python package has it
without documentation, so its inputs are known for one version only, and it is used with no other.
"""

from __future__ import annotations

import platform
from functools import cache
from typing import Any

import numpy as np

from pteron.engines.openvino._import import opset, ov

BLOCK = 32
"""Rows of a page."""
PAGED_ATTENTION = "PagedAttentionExtension"
_KEY_CACHE = 3
_VERSION = "2026.4."


@cache
def available() -> bool:
    """Whether this is the version whose inputs are known, on a processor it was tried on."""
    known = ov.get_version().startswith(_VERSION) and platform.machine() in ("x86_64", "AMD64")
    return known and hasattr(ov.op, "_PagedAttentionExtension")


def pages(heads: int, rows: int, size: int) -> Any:
    """The parameter that holds a cache: ``[pages, heads, BLOCK, size]``.

    Its type is the kernel's choice, by the property ``KV_CACHE_PRECISION``.
    """
    count = -(-rows // BLOCK)
    return opset.parameter(ov.PartialShape([count, heads, BLOCK, size]), ov.Type.dynamic)


def attend(
    query: Any, key: Any, value: Any, caches: tuple[Any, Any], start: Any, rows: int, scale: float
) -> Any:
    """Write n rows of keys and values, and attend to all rows so far: ``[n, heads * size]``.

    Args:
        query: ``[n, heads * size]``; heads that share keys side by side.
        key, value: ``[n, key heads * size]``, for rows ``start`` to ``start + n - 1``.
        caches: parameters made by :func:`pages`, updated in place.
        start: ``[1]``, int32. Query i sees rows up to ``start + i``.
        rows: room in the caches.
        scale: of the products of queries and keys.
    """
    count = int(query.get_partial_shape()[0].get_length())
    blocks = caches[0].get_partial_shape()[0].get_length()
    inputs = [query, key, value, *caches, start]
    inputs += [_ints([0, count]), _ints(range(blocks)), _ints([0, blocks])]
    inputs += [_number(scale), _ints(0), _none(np.float32), _ints(rows)]
    inputs += [_none(np.int32)] * 3 + [_none(np.float32)] * 2 + [_ints(0)] * 2
    inputs += [opset.constant(np.zeros((0, 0, 0, 0), np.float32)), _ints(0)]
    inputs += [_none(np.int32)] * 4 + [_none(np.uint8), _none(np.int32)]
    node = ov.op._PagedAttentionExtension([_output(value) for value in inputs])
    tell_heads(node)
    return node.output(0)


def tell_heads(node: Any) -> None:
    """Note at the node what the kernel asks for and no file of OpenVINO's keeps."""
    shape = node.get_input_partial_shape(_KEY_CACHE)
    heads, size = int(shape[1].get_length()), int(shape[3].get_length())
    notes = node.get_rt_info()
    for kind in ("k", "v"):
        notes[f"num_{kind}_heads"], notes[f"{kind}_head_size"] = heads, size


def _output(value: Any) -> Any:
    return value.output(0) if hasattr(value, "output") else value


def _ints(value: Any) -> Any:
    return opset.constant(np.array(value, np.int32))


def _number(value: float) -> Any:
    return opset.constant(np.array(value, np.float32))


def _none(dtype: Any) -> Any:
    """An optional input left out."""
    return opset.constant(np.zeros(0, dtype))
