"""Compressed constants (coremltools ``ops/defs/iOS16/constexpr_ops.py``, ``iOS18/compression.py``).

They are written out when the payload is compiled, so that whatever uses them sees a plain constant;
save that ``linear`` takes quantised weights as they are (:mod:`pteron.engines.openvino.quantised`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pteron.engines.openvino.declare import Array, Int, IntList, Raw, Text
from pteron.engines.openvino.problem import OpProblem
from pteron.engines.openvino.quantised import Quantised, spread
from pteron.engines.openvino.registry import mil_op
from pteron.engines.openvino.types import TensorType
from pteron.engines.openvino.values import Value

Values = NDArray[np.generic]


@mil_op(since=16, tested="coremltools")
def constexpr_cast(source_val: Array, output_dtype: Text) -> Values:
    names = {"fp16": np.float16, "fp32": np.float32}
    if output_dtype not in names:
        raise OpProblem(f"cannot cast to '{output_dtype}'")
    return source_val.astype(names[output_dtype])


@mil_op(since=16, tested="coremltools")
def constexpr_affine_dequantize(
    quantized_data: Array, zero_point: Array, scale: Array, axis: Int
) -> Quantised:
    shape = [1] * quantized_data.ndim
    shape[axis] = -1
    zero, factor = (
        parameter.reshape(shape if parameter.size > 1 else [1] * quantized_data.ndim)
        for parameter in (zero_point, scale)
    )
    offset = zero if zero.any() else None
    return Quantised(quantized_data, quantized_data.dtype.name, factor, offset)


@mil_op(since=16, tested="coremltools")
def constexpr_lut_to_dense(indices: Array, lut: Array, shape: IntList) -> Values:
    bits = int(lut.size).bit_length() - 1
    if bits not in (1, 2, 4, 6, 8) or lut.size != 1 << bits:
        raise OpProblem(f"a table of {lut.size} entries")
    count = int(np.prod(shape))
    flat = np.unpackbits(indices.view(np.uint8), bitorder="little")
    if flat.size < count * bits:
        raise OpProblem(f"{indices.size} bytes of indices are too few for {count} elements")
    digits = flat[: count * bits].reshape(count, bits)
    places = digits @ (1 << np.arange(bits)).astype(np.uint16)
    return lut[places].reshape(shape)


@mil_op(since=16, tested="coremltools")
def constexpr_sparse_to_dense(nonzero_data: Array, mask: Array, shape: IntList) -> Values:
    bits = np.unpackbits(mask.view(np.uint8), bitorder="little")[: int(np.prod(shape))]
    return _dense(nonzero_data, bits.reshape(shape))


@mil_op("constexpr_sparse_to_dense", since=18, tested="coremltools")
def constexpr_sparse_to_dense_18(nonzero_data: Array, mask: Array) -> Values:
    return _dense(nonzero_data, mask)


@mil_op(since=18, tested="coremltools")
def constexpr_blockwise_shift_scale(
    data: Raw, scale: Array, offset: Array | None = None
) -> Quantised:
    if not isinstance(data, Value) or data.array is None or not isinstance(data.type, TensorType):
        raise OpProblem("input 'data' must be a constant")
    return Quantised(data.array, data.type.dtype, scale, offset)


@mil_op("constexpr_lut_to_dense", since=18, tested="coremltools")
def constexpr_lut_to_dense_18(indices: Array, lut: Array, vector_axis: Int | None = None) -> Values:
    tables = _spread_tables(lut, indices.shape)  # [*indices.shape, palettes, vector]
    places = indices.astype(np.intp)[..., None, None]
    found = np.take_along_axis(tables, places, axis=-2)[..., 0, :]
    return _fill_along(found, vector_axis)


@mil_op(since=18, tested="coremltools")
def constexpr_lut_to_sparse(
    indices_mask: Array, indices_nonzero_data: Array, lut: Array, vector_axis: Int | None = None
) -> list[Values]:
    dense = constexpr_lut_to_dense_18(_dense(indices_nonzero_data, indices_mask), lut, vector_axis)
    vector = lut.shape[-1]
    mask = _fill_along(np.repeat(indices_mask[..., None], vector, axis=-1), vector_axis)
    return [mask, dense[mask.astype(bool)]]


@mil_op(since=18, tested="coremltools")
def constexpr_sparse_blockwise_shift_scale(
    data_mask: Array, nonzero_data: Array, scale: Array, offset: Array | None = None
) -> list[Values]:
    data = _dense(nonzero_data, data_mask)
    dense = Quantised(data, data.dtype.name, scale, offset).expanded()
    return [data_mask, dense[data_mask.astype(bool)]]


def _dense(nonzero: Values, mask: Values) -> Values:
    chosen = mask.astype(bool)
    if int(chosen.sum()) != nonzero.size:
        raise OpProblem(f"the mask has {int(chosen.sum())} ones for {nonzero.size} values")
    dense = np.zeros(mask.shape, nonzero.dtype)
    dense[chosen] = nonzero
    return dense


def _spread_tables(lut: Values, shape: tuple[int, ...]) -> Values:
    tables = spread(lut, (*shape, *lut.shape[-2:]))
    return np.broadcast_to(tables, (*shape, *lut.shape[-2:]))


def _fill_along(found: Values, vector_axis: int | None) -> Values:
    """Vectors in the last axis, laid out along ``vector_axis``."""
    if found.shape[-1] == 1:
        return found[..., 0]
    if vector_axis is None:
        raise OpProblem("vectors need a vector_axis")
    axis = vector_axis % (found.ndim - 1)
    moved = np.moveaxis(found, -1, axis + 1)
    shape = list(found.shape[:-1])
    shape[axis] *= found.shape[-1]
    return moved.reshape(shape)
