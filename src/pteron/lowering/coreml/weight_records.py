"""Which constants of a converted program are stored compressed, and why the others are not."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from pteron.lowering.coreml.compression import configuration, operations
from pteron.lowering.weights import WeightRecord

_SUFFIX = re.compile(r"(_to_fp16|_quantized|_palettized|_pcs|_sparsified|_\d+)$")
SMALLEST = 10
"""Elements of the smallest constant that coremltools puts into a weight file."""


def records(program: Any, names: Mapping[str, str], weights: Any) -> tuple[WeightRecord, ...]:
    """Every floating-point constant of a pymil program that would lie in a weight file.

    ``names`` gives the model's name of a constant; ``weights`` is what was asked for. Empty if
    nothing was asked for and nothing is compressed.
    """
    config = configuration(weights) if weights is not None else None
    listed = [_record(operation, names, config) for operation in _weights(program)]
    wanted = weights is not None or any(not record.reason for record in listed)
    return tuple(listed) if wanted else ()


def _weights(program: Any) -> Iterator[Any]:
    from coremltools.converters.mil.mil import types

    for operation in operations(program):
        kind, value = operation.op_type, operation.outputs[-1]
        constant = kind == "const" or kind.startswith("constexpr_")
        if not constant or not types.is_tensor(value.sym_type) or not types.is_float(value.dtype):
            continue
        if not _expanded_further(value) and math.prod(value.shape) >= SMALLEST:
            yield operation


def _expanded_further(value: Any) -> bool:
    return any(user.op_type.startswith("constexpr_") for user in value.child_ops)


def _record(operation: Any, names: Mapping[str, str], config: Any) -> WeightRecord:
    value = operation.outputs[-1]
    dtype = _dtype(value)
    name = _model_name(operation.name, names)
    size = _bytes(value)
    shape = tuple(int(n) for n in value.shape)
    if operation.op_type == "const":
        return WeightRecord(name, dtype, shape, size, size, dtype, _reason(operation, config))
    stored = sum(_bytes(part) for part in _sources(operation))
    return WeightRecord(name, dtype, shape, size, stored, _format(operation))


def _model_name(name: str, names: Mapping[str, str]) -> str:
    known = name
    while known not in names and _SUFFIX.search(known):
        known = _SUFFIX.sub("", known)
    return names.get(known, name)


def _sources(operation: Any) -> Iterator[Any]:
    """The stored arrays that a compressed constant is made of."""
    for value in operation.inputs.values():
        if value is None or getattr(value, "op", None) is None or not hasattr(value, "dtype"):
            continue
        if value.op.op_type.startswith("constexpr_"):
            yield from _sources(value.op)
        elif value.val is not None:
            yield value


def _bytes(value: Any) -> int:
    bits: int = value.dtype.get_bitwidth()
    return -(-math.prod(int(n) for n in value.shape) * bits // 8)


def _format(operation: Any) -> str:
    """``int4``, ``palette of 16``, ``sparse``; joined where one is made of another."""
    kind = operation.op_type
    inner = [v.op for v in operation.inputs.values() if v is not None and _is_constexpr(v)]
    below = "".join(f" of {_format(op)}" for op in inner[:1])
    if "lut" in kind:
        entries = operation.inputs["lut"].shape[-2 if len(operation.lut.shape) > 1 else -1]
        return f"palette of {entries}{below}"
    if "sparse" in kind:
        return f"sparse{below}"
    data = operation.inputs.get("data") or operation.inputs.get("quantized_data")
    return below.removeprefix(" of ") or _dtype(data)


def _dtype(value: Any) -> str:
    from coremltools.converters.mil.mil import types

    name: str = types.builtin_to_string(value.dtype)
    return {"fp16": "float16", "fp32": "float32"}.get(name, name)


def _is_constexpr(value: Any) -> bool:
    operation = getattr(value, "op", None)
    return operation is not None and operation.op_type.startswith("constexpr_")


def _reason(operation: Any, config: Any) -> str:
    """Why coremltools left a constant as it is."""
    if config is None:
        return "no compression was asked for"
    wanted = config._get_const_op_config(operation)
    if wanted is None:
        return "the configuration leaves it out"
    value = operation.outputs[0]
    if value.rank < 2:
        return "it has a single axis"
    threshold = wanted.weight_threshold
    if threshold is not None and math.prod(value.shape) <= threshold:
        return f"it has no more than {threshold} elements (weight_threshold)"
    if value.rank > 5:
        return "it has more than 5 axes"
    size = getattr(wanted, "block_size", None) or getattr(wanted, "group_size", None)
    return f"its channels do not divide into blocks or groups of {size}"
