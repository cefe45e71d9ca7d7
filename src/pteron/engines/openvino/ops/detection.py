"""Non-maximum suppression (coremltools ``ops/defs/*/tensor_operation.py``).

A box counts with the best of its class scores. Where suppression is per class, only boxes of the
same best class compete. When nothing survives, the best box does.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pteron.engines.openvino._import import opset
from pteron.engines.openvino.declare import Flag, FloatsT, Int, Number
from pteron.engines.openvino.graph import cast_like, i32, i64, ints, static_shape
from pteron.engines.openvino.registry import mil_op
from pteron.engines.openvino.values import Output

_NEVER = np.float32(-3e38)  # the score of a box in classes that are not its own
_ALWAYS = -1e38


@mil_op(tested="TensorFlow's definition")
def non_maximum_suppression(
    boxes: FloatsT,
    scores: FloatsT,
    iou_threshold: Number,
    score_threshold: Number,
    max_boxes: Int,
    per_class_suppression: Flag = False,
) -> list[Output]:
    kept = [
        _suppressed(b, s, iou_threshold, score_threshold, max_boxes, per_class_suppression)
        for b, s in _batches(boxes, scores)
    ]
    return [opset.concat(list(parts), 0).output(0) for parts in zip(*kept, strict=True)]


@mil_op("non_maximum_suppression", since=17, tested="TensorFlow's definition")
def non_maximum_suppression_17(
    boxes: FloatsT,
    scores: FloatsT,
    iou_threshold: Number,
    max_boxes: Int,
    per_class_suppression: Flag = False,
) -> list[Output]:
    swap = ints([0, 2, 1])
    found = non_maximum_suppression(
        opset.transpose(boxes, swap).output(0),
        opset.transpose(scores, swap).output(0),
        iou_threshold,
        _ALWAYS,
        max_boxes,
        per_class_suppression,
    )
    return [*(opset.transpose(part, swap).output(0) for part in found[:2]), found[2]]


def _batches(boxes: Output, scores: Output) -> list[tuple[Output, Output]]:
    count = static_shape(boxes)[0]
    parts = [opset.split(item, i64(0), count).outputs() for item in (boxes, scores)]
    return list(zip(*parts, strict=True))


def _suppressed(
    boxes: Output, scores: Output, iou: float, threshold: float, count: int, per_class: bool
) -> list[Any]:
    """Boxes, scores, indices and number of one batch entry, each with a leading axis of 1."""
    best = opset.convert(opset.reduce_max(scores, ints([2]), False), "f32")  # [1, B]
    rivals = _per_class(scores, best) if per_class else opset.unsqueeze(best, ints([1]))
    chosen, _, valid = opset.non_max_suppression(
        opset.convert(boxes, "f32"),
        rivals,
        i64(count),
        opset.constant(np.float32(iou)),
        opset.constant(np.float32(threshold)),
        box_encoding="center",
        sort_result_descending=True,
        output_type="i32",
    ).outputs()
    number = opset.minimum(opset.reshape(valid, ints([1]), False), i32([count]))
    rows = opset.slice(chosen, i32([0]), number, i32([1]), ints([0]))
    column = opset.gather(rows, i64(2), i64(1))
    top = opset.topk(best, i64(1), 1, "max", "value", "i32").output(1)
    candidates = opset.concat([column, opset.reshape(top, ints([1]), False)], 0)
    number = opset.maximum(number, i32([1]))
    indices = opset.slice(candidates, i32([0]), number, i32([1]), ints([0]))
    missing = opset.subtract(i32([count]), number)
    return [
        *(_padded(opset.gather(item, indices, i64(1)), missing, count) for item in (boxes, scores)),
        _padded(opset.unsqueeze(indices, ints([0])), missing, count, -1),
        number,
    ]


def _per_class(scores: Output, best: Any) -> Any:
    """``[1, K, B]``: each box's best score in the class that has it, far below elsewhere."""
    classes = static_shape(scores)[2]
    own = opset.topk(scores, i64(1), 2, "max", "value", "i32", True).output(1)  # [1, B, 1]
    mine = opset.equal(
        opset.transpose(own, ints([0, 2, 1])),
        opset.constant(np.arange(classes, dtype=np.int32).reshape(1, -1, 1)),
    )
    return opset.select(mine, opset.unsqueeze(best, ints([1])), opset.constant(_NEVER))


def _padded(values: Any, missing: Any, count: int, fill: int = 0) -> Any:
    """Rows along axis 1, filled up to ``count``."""
    shape = values.output(0).get_partial_shape()
    rank = len(shape)
    after = opset.concat([i32([0]), missing, i32([0] * (rank - 2))], 0)
    value = cast_like(values.output(0), i32(fill).output(0))
    padded = opset.pad(values, i32([0] * rank), after, "constant", value)
    rest = [int(shape[axis].get_length()) for axis in range(2, rank)]
    return opset.reshape(padded, ints([1, count, *rest]), False)
