"""Operations that ask for more than a machine has: one error, before any large allocation."""

from __future__ import annotations

import resource
from typing import Any

import numpy as np
import pytest

from pteron.engines.base import EngineOptions
from pteron.errors import EngineError
from pteron.payloads.coreml.proto import mil_pb2 as mil
from tests.engines.oneop import ENGINE, operation, source, type_of

ROWS, IMAGE = np.zeros((2, 3), np.float32), np.zeros((1, 1, 8, 8), np.float32)
BOXES = np.zeros((1, 4, 3), np.float32)
HUGE = np.int32(2**31 - 1)
SHAPE = np.int32([1 << 20, 1 << 20])
FLIPPED = {
    "sampling_mode": "bilinear",
    "padding_mode": "constant",
    "padding_value": np.float32(0),
    "coordinates_mode": "normalized_minus_one_to_one",
    "align_corners": np.bool_(True),
}
CROPS = {
    "boxes": np.zeros((2, 4), np.float32),
    "box_indices": np.int32([0, 0]),
    "target_height": HUGE,
    "target_width": HUGE,
}

CASES: dict[str, tuple[str, dict[str, Any], dict[str, Any], tuple[int, ...]]] = {
    "fill": ("fill", {}, {"shape": SHAPE, "value": np.float32(1)}, (2,)),
    "fill of a negative size": ("fill", {}, {"shape": np.int32([-5, 3])}, (2,)),
    "tile": ("tile", {"x": ROWS}, {"reps": SHAPE}, (2,)),
    "tile of a constant": ("tile", {}, {"x": ROWS, "reps": SHAPE}, (2,)),
    "one_hot": (
        "one_hot",
        {"indices": np.int32([0, 1] * 8)},
        {"one_hot_vector_size": HUGE, "on_value": np.float32(1), "off_value": np.float32(0)},
        (2,),
    ),
    "pad": ("pad", {"x": ROWS}, {"pad": np.int32([0, 2**30] * 2), "mode": "constant"}, (2,)),
    "broadcast": (
        "add",
        {"x": np.zeros((1 << 18, 1), np.float32), "y": np.zeros((1, 1 << 18), np.float32)},
        {},
        (2,),
    ),
    "random": (
        "random_uniform",
        {},
        {"shape": SHAPE, "low": np.float32(0), "high": np.float32(1), "seed": np.int32(1)},
        (2,),
    ),
    "upsample": (
        "upsample_bilinear",
        {"x": IMAGE},
        {"scale_factor_height": np.float32(1e6), "scale_factor_width": np.float32(1e6)},
        (4,),
    ),
    "resize": (
        "resize_bilinear",
        {"x": IMAGE},
        {"target_size_height": HUGE, "target_size_width": HUGE},
        (4,),
    ),
    "crop_resize": ("crop_resize", {"x": IMAGE}, CROPS, (4,)),
    "affine": (
        "affine",
        {"x": IMAGE, "transform_matrix": np.zeros((1, 6), np.float32)},
        {"output_height": HUGE, "output_width": HUGE, **FLIPPED},
        (4,),
    ),
    "topk": ("topk", {"x": ROWS}, {"k": np.int32(4), "axis": np.int32(1)}, (2, 2)),
    "windows": ("sliding_windows", {"x": ROWS}, {"axis": np.int32(1), "size": HUGE}, (3,)),
    "padded convolution": (
        "conv",
        {"x": IMAGE},
        {
            "weight": np.zeros((1, 1, 3, 3), np.float32),
            "pad": np.int32([2**30] * 4),
            "pad_type": "custom",
        },
        (4,),
    ),
    "non_maximum_suppression": (
        "non_maximum_suppression",
        {"boxes": BOXES, "scores": BOXES},
        {"iou_threshold": np.float32(0.5), "max_boxes": HUGE},
        (3, 3, 2),
    ),
}


def flexible(rank: int, index: int) -> mil.ValueType:
    """A tensor type of which only the rank is declared; indices come behind values."""
    kind = mil.FLOAT32 if index < 1 or rank > 2 else mil.INT32
    tensor = mil.TensorType(dataType=kind, rank=rank)
    for _ in range(rank):
        tensor.dimensions.add().unknown.SetInParent()
    return mil.ValueType(tensorType=tensor)


@pytest.mark.parametrize("case", CASES)
def test_the_error_comes_before_the_allocation(case: str) -> None:
    type, tensors, constants, ranks = CASES[case]
    function = mil.Function(opset="CoreML8")
    for name, value in (tensors or {"unused": ROWS}).items():
        function.inputs.add(name=f"{name}0", type=type_of(value))
    op = operation(type, tensors, constants, [])
    for index, rank in enumerate(ranks):
        op.outputs.add(name=f"out{index}", type=flexible(rank, index))
    block = function.block_specializations["CoreML8"]
    block.operations.append(op)
    block.outputs.extend(output.name for output in op.outputs)
    package = source(function)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(EngineError, match=f"function 'main', {type} 'out0'"):
        ENGINE.compile_in_memory(package, EngineOptions())
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 * 1024  # KiB
