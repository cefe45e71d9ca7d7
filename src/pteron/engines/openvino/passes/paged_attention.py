"""OpenVINO's paged attention, for one stream of tokens whose pages lie in order.

The operation is what OpenVINO's serving of language models runs on; its Python package has it
without documentation, so its inputs are known for one version only, and it is used with no other.
"""

from __future__ import annotations

import platform
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from pteron.engines.openvino._import import opset, ov
from pteron.engines.openvino.graph import i32

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


@dataclass(frozen=True)
class Sequences:
    """What the kernel takes n tokens for, all of them at rows of the same pages.

    Attributes:
        past: rows before each sequence, ``[s]``.
        begins: of sequences among the tokens, and the end, ``[s + 1]``.
        blocks: pages of all sequences, each in order.
        block_begins: of sequences among them, and the end, ``[s + 1]``.
    """

    past: Any
    begins: Any
    blocks: Any
    block_begins: Any


def one_sequence(start: Any, count: Any, blocks: int) -> Sequences:
    """All tokens as one sequence, from row ``start`` (``[1]``, int32) on; ``count`` is n, alike."""
    begins = opset.concat([i32([0]), count], 0)
    return Sequences(start, begins, i32(range(blocks)), i32([0, blocks]))


def one_sequence_each(start: Any, count: Any, blocks: int) -> Sequences:
    """Every token as a sequence of its own, whose past includes the tokens before it.

    The kernel writes the rows of all tokens before it attends to any.
    """
    ends = opset.range(i32(0), opset.squeeze(opset.add(count, i32([1]))), i32(1), "i32")
    indices = opset.range(i32(0), opset.squeeze(count), i32(1), "i32")
    every = opset.tile(i32(range(blocks)), count)
    return Sequences(opset.add(start, indices), ends, every, opset.multiply(ends, i32(blocks)))


def attend(
    query: Any,
    key: Any,
    value: Any,
    caches: tuple[Any, Any],
    sequences: Sequences,
    rows: int,
    scale: float,
) -> Any:
    """Write n rows of keys and values, and attend to all rows so far: ``[n, heads * size]``.

    Args:
        query: ``[n, heads * size]``; heads that share keys side by side.
        key, value: ``[n, key heads * size]``.
        caches: parameters made by :func:`pages`, updated in place.
        sequences: the tokens' rows; each token sees those up to its own.
        rows: room in the caches.
        scale: of the products of queries and keys.
    """
    inputs = [query, key, value, *caches, sequences.past]
    inputs += [sequences.begins, sequences.blocks, sequences.block_begins]
    inputs += [_number(scale), i32(0), _none(np.float32), i32(rows)]
    inputs += [_none(np.int32)] * 3 + [_none(np.float32)] * 2 + [i32(0)] * 2
    inputs += [opset.constant(np.zeros((0, 0, 0, 0), np.float32)), i32(0)]
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


def _number(value: float) -> Any:
    return opset.constant(np.array(value, np.float32))


def _none(dtype: Any) -> Any:
    """An optional input left out."""
    return opset.constant(np.zeros(0, dtype))
