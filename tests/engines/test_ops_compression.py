"""Compressed constants and quantised tensors against their definitions in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from pteron.errors import EngineError
from pteron.payloads.coreml.proto import mil_pb2 as mil
from tests.engines.oneop import check, constant, operation, run

RNG = np.random.default_rng(9)
BITS = {"uint1": 1, "uint2": 2, "uint3": 3, "uint4": 4, "uint6": 6, "int4": 4}


def packed(values: np.ndarray, name: str) -> mil.Value:
    """A constant of a type of less than eight bits, packed without gaps, low bits first."""
    bits = BITS[name]
    flat = (values.reshape(-1).astype(np.int64) & ((1 << bits) - 1)).astype(np.uint8)
    spread = np.unpackbits(flat[:, None], axis=1, bitorder="little")[:, :bits]
    value = constant(np.zeros(values.shape, np.uint8))
    value.type.tensorType.dataType = mil.DataType.Value(name.upper())
    value.immediateValue.tensor.bytes.values = np.packbits(spread, bitorder="little").tobytes()
    return value


def compressed(type, constants, expected, opset=18) -> None:
    """Check a constant expression by adding zero to it."""
    from tests.engines import oneop

    expected = [np.asarray(e) for e in (expected if isinstance(expected, list) else [expected])]
    function = mil.Function(opset=oneop.OPSETS[opset])
    function.inputs.add(name="zero", type=oneop.type_of(np.zeros(1, expected[-1].dtype)))
    block = function.block_specializations[function.opset]
    op = operation(type, {}, {}, expected)
    for name, value in constants.items():
        made = value if isinstance(value, mil.Value) else constant(value)
        op.inputs[name].arguments.add().value.CopyFrom(made)
    for index in range(len(expected) - 1):
        op.outputs[index].type.tensorType.dataType = mil.UINT1
    block.operations.append(op)
    add = operation("add", {}, {}, [expected[-1]])
    add.inputs["x"].arguments.add().name = op.outputs[-1].name
    add.inputs["y"].arguments.add().name = "zero"
    add.outputs[0].name = "sum"
    block.operations.append(add)
    block.outputs.append("sum")
    compiled = oneop.ENGINE.compile_in_memory(oneop.source(function), oneop.EngineOptions())
    (actual,) = compiled.new_session().run("main", [np.zeros(1, expected[-1].dtype)])
    np.testing.assert_array_equal(actual, expected[-1])


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("axis", [0, 1])
def test_affine_dequantize(axis, dtype) -> None:
    data = RNG.integers(0, 255, (3, 4)).astype(np.uint8)
    scale = RNG.uniform(0.1, 1, data.shape[axis]).astype(dtype)
    zero = RNG.integers(0, 255, data.shape[axis]).astype(np.uint8)
    shape = [-1 if a == axis else 1 for a in range(2)]
    wide = (data.astype(np.float32) - zero.reshape(shape)) * scale.reshape(shape).astype(np.float32)
    constants = {"quantized_data": data, "zero_point": zero, "scale": scale, "axis": axis}
    compressed("constexpr_affine_dequantize", constants, wide.astype(dtype), 16)


@pytest.mark.parametrize("bits", [1, 2, 4, 6, 8])
def test_lut_of_ios_16(bits) -> None:
    places, lut = RNG.integers(0, 1 << bits, (3, 5)), RNG.normal(size=1 << bits).astype(np.float32)
    spread = np.unpackbits(places.astype(np.uint8).reshape(-1, 1), axis=1, bitorder="little")
    data = np.packbits(spread[:, :bits], bitorder="little")
    constants = {"indices": data, "lut": lut, "shape": np.array([3, 5], np.uint32)}
    compressed("constexpr_lut_to_dense", constants, lut[places], 16)


def test_sparse_and_cast_of_ios_16() -> None:
    mask = RNG.integers(0, 2, (3, 5)).astype(bool)
    mask[0, 0] = True
    dense = np.where(mask, RNG.normal(size=(3, 5)), 0).astype(np.float32)
    constants = {
        "nonzero_data": dense[mask],
        "mask": np.packbits(mask.reshape(-1), bitorder="little"),
        "shape": np.array([3, 5], np.uint32),
    }
    compressed("constexpr_sparse_to_dense", constants, dense, 16)
    half = dense.astype(np.float16)
    constants = {"source_val": half, "output_dtype": "fp32"}
    compressed("constexpr_cast", constants, half.astype(np.float32), 16)


@pytest.mark.parametrize("kind", ["int4", "uint4", "int8", "uint8", "float16"])
@pytest.mark.parametrize("blocks", [(1, 1), (4, 1), (2, 3), (4, 6)])
def test_blockwise(blocks, kind) -> None:
    low, high = {"int4": (-8, 8), "uint4": (0, 16), "int8": (-128, 128)}.get(kind, (0, 200))
    data = RNG.integers(low, high, (4, 6))
    scale = RNG.uniform(0.1, 1, blocks).astype(np.float16)
    offset = RNG.integers(low, high, blocks)
    spread = [v.repeat(4 // blocks[0], 0).repeat(6 // blocks[1], 1) for v in (scale, offset)]
    wide = (data - spread[1]).astype(np.float32) * spread[0].astype(np.float32)
    made = packed if kind in BITS else lambda values, name: constant(values.astype(name))
    constants = {"data": made(data, kind), "scale": scale, "offset": made(offset, kind)}
    compressed("constexpr_blockwise_shift_scale", constants, wide.astype(np.float16))


@pytest.mark.parametrize("kind", ["uint1", "uint2", "uint3", "uint4", "uint6", "uint8"])
@pytest.mark.parametrize("groups", [(1, 1), (2, 1), (2, 3)])
def test_lut(groups, kind) -> None:
    count = 1 << BITS.get(kind, 8)
    places = RNG.integers(0, count, (4, 6))
    lut = RNG.normal(size=(*groups, count, 1)).astype(np.float32)
    table = lut.repeat(4 // groups[0], 0).repeat(6 // groups[1], 1)
    expected = np.take_along_axis(table[..., 0], places[..., None], 2)[..., 0]
    made = packed(places, kind) if kind in BITS else constant(places.astype(kind))
    compressed("constexpr_lut_to_dense", {"indices": made, "lut": lut}, expected)


@pytest.mark.parametrize("axis", [0, 1])
def test_lut_of_vectors(axis) -> None:
    places = RNG.integers(0, 4, (2, 3))
    lut = RNG.normal(size=(1, 1, 4, 2)).astype(np.float32)
    vectors = lut[0, 0][places]
    expected = np.concatenate(
        [np.concatenate(list(part), axis) for part in [[vectors[..., 0], vectors[..., 1]]]], axis
    )
    order = np.argsort(np.tile(np.arange(places.shape[axis]), 2), kind="stable")
    expected = np.take(expected, order, axis)
    constants = {"indices": packed(places, "uint2"), "lut": lut, "vector_axis": axis}
    compressed("constexpr_lut_to_dense", constants, expected)


def test_sparse_forms_of_ios_18() -> None:
    mask = RNG.integers(0, 2, (4, 6))
    mask[0, :2] = 1
    chosen = mask.astype(bool)
    values = RNG.normal(size=int(mask.sum())).astype(np.float32)
    dense = np.zeros((4, 6), np.float32)
    dense[chosen] = values
    bits = packed(mask, "uint1")
    compressed("constexpr_sparse_to_dense", {"nonzero_data": values, "mask": bits}, dense)

    places, lut = RNG.integers(0, 4, values.size), RNG.normal(size=(1, 1, 4, 1)).astype(np.float32)
    constants = {
        "indices_mask": bits,
        "indices_nonzero_data": packed(places, "uint2"),
        "lut": lut,
    }
    compressed("constexpr_lut_to_sparse", constants, [mask, lut[0, 0, places, 0]])

    data = RNG.integers(-8, 8, values.size)
    scale = RNG.uniform(0.1, 1, (4, 1)).astype(np.float32)
    expected = data.astype(np.float32) * scale.repeat(6, 1)[chosen]
    constants = {"data_mask": bits, "nonzero_data": packed(data, "int4"), "scale": scale}
    compressed("constexpr_sparse_blockwise_shift_scale", constants, [mask, expected])


def test_a_table_too_small_or_blocks_that_do_not_divide_are_errors() -> None:
    constants = {"data": np.zeros((4, 6), np.int8), "scale": np.ones((3, 1), np.float32)}
    with pytest.raises(EngineError, match="3 blocks do not divide 4"):
        compressed("constexpr_blockwise_shift_scale", constants, np.zeros((4, 6), np.float32))


@pytest.mark.parametrize("kind", ["int8", "uint8"])
def test_quantize_and_dequantize(kind) -> None:
    low, high = (-128, 127) if kind == "int8" else (0, 255)
    x = RNG.uniform(-40, 40, (3, 4)).astype(np.float32)
    for axis, count in ((None, ()), (0, (3,)), (1, (4,))):
        scale = RNG.uniform(0.1, 0.5, count).astype(np.float32)
        zero = RNG.integers(0, 20, count).astype(kind)
        shape = () if axis is None else [-1 if a == axis else 1 for a in range(2)]
        s, z = scale.reshape(shape), zero.reshape(shape).astype(np.float32)
        quantized = np.clip(np.round(x / s) + z, low, high).astype(kind)
        constants = {"scale": scale, "zero_point": zero}
        constants |= {} if axis is None else {"axis": axis}
        check("quantize", {"input": x}, {**constants, "output_dtype": kind}, quantized)
        expected = (quantized.astype(np.float32) - z) * s
        check("dequantize", {"input": quantized}, constants, expected)


def suppressed(boxes, scores, iou, threshold, count):
    """Greedy suppression of one batch entry by its best score; indices, best first."""
    best, kept = scores.max(1), []
    low, high = boxes[:, :2] - boxes[:, 2:] / 2, boxes[:, :2] + boxes[:, 2:] / 2
    area = boxes[:, 2] * boxes[:, 3]
    for i in np.argsort(-best):
        if best[i] <= threshold or len(kept) == count:
            continue
        sides = [
            np.clip(np.minimum(high[i], high[k]) - np.maximum(low[i], low[k]), 0, None)
            for k in kept
        ]
        shared = [s[0] * s[1] for s in sides]
        if all(s / (area[i] + area[k] - s) <= iou for s, k in zip(shared, kept, strict=True)):
            kept.append(int(i))
    return kept or [int(best.argmax())]


@pytest.mark.parametrize("threshold", [-9.0, 0.5, 9.0])
@pytest.mark.parametrize("count", [3, 12])
def test_non_maximum_suppression(count, threshold) -> None:
    boxes = RNG.uniform(1, 9, (2, 10, 4)).astype(np.float32)
    scores = RNG.permutation(40).reshape(2, 10, 2).astype(np.float32) / 40
    outs = [np.zeros((2, count, 4)), np.zeros((2, count, 2)), np.full((2, count), -1), np.zeros(2)]
    for b in range(2):
        kept = suppressed(boxes[b], scores[b], 0.3, threshold, count)
        for out, value in zip(outs, (boxes[b][kept], scores[b][kept], kept), strict=False):
            out[b, : len(kept)] = value
        outs[3][b] = len(kept)
    expected = [o.astype(k) for o, k in zip(outs, ["f4", "f4", "i4", "i4"], strict=True)]
    constants = {"iou_threshold": np.float32(0.3), "max_boxes": count}
    extra = {"score_threshold": np.float32(threshold)}
    tensors = {"boxes": boxes, "scores": scores}
    check("non_maximum_suppression", tensors, {**constants, **extra}, expected, opset=15)
    if threshold < 0:
        turned = {name: np.ascontiguousarray(v.swapaxes(1, 2)) for name, v in tensors.items()}
        swapped = [np.ascontiguousarray(e.swapaxes(1, 2)) for e in expected[:2]]
        check("non_maximum_suppression", turned, constants, [*swapped, expected[2]])


def test_unknown_modes_are_errors() -> None:
    x = np.zeros((1, 2, 3, 3), np.float32)
    for name, constants in (
        ("gelu", {"mode": "FASTER"}),
        ("pad", {"pad": [1, 1], "mode": "wrap"}),
        ("resize_bilinear", {"sampling_mode": "CENTRED"}),
        ("max_pool", {"kernel_sizes": [2, 2], "pad_type": "most"}),
        ("cast", {"dtype": "fp128"}),
    ):
        with pytest.raises(EngineError, match=f"{name} 'out0'"):
            run(name, {"x": x}, constants, [x])
