"""Sorting (coremltools ``ops/defs/*/tensor_operation.py``); equal values keep their order."""

from __future__ import annotations

from pteron.engines.openvino._import import opset
from pteron.engines.openvino.declare import Flag, Int, Numbers, Text
from pteron.engines.openvino.graph import axis_of, i64, shape_of, size
from pteron.engines.openvino.problem import OpProblem
from pteron.engines.openvino.registry import mil_op
from pteron.engines.openvino.types import element_type
from pteron.engines.openvino.values import Output


@mil_op(tested="NumPy")
def argsort(x: Numbers, axis: Int = -1, ascending: Flag = False) -> Output:
    return _sorted(x, -1, axis, ascending)[1]


@mil_op(tested="NumPy")
def topk(x: Numbers, k: Int = 1, axis: Int = -1, ascending: Flag = False) -> list[Output]:
    return _sorted(x, k, axis, ascending)


@mil_op("topk", since=16, tested="NumPy")
def topk_16(
    x: Numbers,
    k: Int = 1,
    axis: Int = -1,
    ascending: Flag = False,
    sort: Flag = True,
    return_indices: Flag = True,
) -> list[Output]:
    found = _sorted(x, k, axis, ascending)
    return found if return_indices else found[:1]


@mil_op("topk", since=17, tested="NumPy")
def topk_17(
    x: Numbers,
    k: Int = 1,
    axis: Int = -1,
    ascending: Flag = False,
    sort: Flag = True,
    return_indices: Flag = True,
    output_indices_dtype: Text = "int32",
) -> list[Output]:
    values, indices = _sorted(x, k, axis, ascending)
    if not return_indices:
        return [values]
    return [values, opset.convert(indices, element_type(output_indices_dtype)).output(0)]


def _sorted(x: Output, k: int, axis: int, ascending: bool) -> list[Output]:
    """Values and indices of the first ``k`` (-1: all)."""
    where = axis_of(x, axis)
    length = size(x, where)
    if k < -1 or (length is not None and k > length):
        raise OpProblem(f"the first {k} of an axis of {length or '?'}")
    count = opset.gather(shape_of(x), i64(where), i64(0)) if k == -1 else i64(k)
    mode = "min" if ascending else "max"
    return opset.topk(x, count, where, mode, "value", "i32", True).outputs()  # type: ignore[no-any-return]
