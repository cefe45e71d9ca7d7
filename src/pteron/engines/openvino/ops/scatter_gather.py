"""Gather and scatter (coremltools ``ops/defs/*/scatter_gather.py``).

From iOS 17 on, ``validate_indices`` asks for an error at run time; OpenVINO has none, so an index
out of range is clamped or ignored as there, never read.
"""

from __future__ import annotations

from pteron.engines.openvino._import import opset
from pteron.engines.openvino.declare import Flag, Int, Ints, Tensor
from pteron.engines.openvino.graph import as_index, axis_of, i64
from pteron.engines.openvino.registry import mil_op
from pteron.engines.openvino.values import Output


@mil_op()
def gather(x: Tensor, indices: Ints, axis: Int = 0) -> Output:
    return opset.gather(x, as_index(indices), i64(axis_of(x, axis)))


@mil_op("gather", since=16)
def gather_16(
    x: Tensor, indices: Ints, axis: Int = 0, batch_dims: Int = 0, validate_indices: Flag = False
) -> Output:
    where = i64(axis_of(x, axis))
    return opset.gather(x, as_index(indices), where, batch_dims)
