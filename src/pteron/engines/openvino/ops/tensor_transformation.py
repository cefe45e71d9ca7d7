"""Shape changes (coremltools ``ops/defs/*/tensor_transformation.py``)."""

from __future__ import annotations

from pteron.engines.openvino._import import opset
from pteron.engines.openvino.declare import Floats, Int, IntList, Ints, MixedTensors, Raws, Tensor
from pteron.engines.openvino.graph import as_index, axis_of, i32, ints, rank, shape_of
from pteron.engines.openvino.problem import OpProblem
from pteron.engines.openvino.registry import mil_op
from pteron.engines.openvino.values import Output


@mil_op(tested="NumPy")
def expand_dims(x: Tensor, axes: IntList) -> Output:
    return opset.unsqueeze(x, ints([axis_of(x, axis, extra=len(axes)) for axis in axes]))


@mil_op(tested="NumPy")
def reshape(x: Tensor, shape: Ints) -> Output:
    return opset.reshape(x, as_index(shape), True)


@mil_op("reshape", since=17, tested="NumPy")
def reshape_17(x: Tensor, shape: Ints) -> Output:
    target = shape.get_partial_shape()[0]
    if target.is_dynamic or int(target.get_length()) <= rank(x):
        return reshape(x, shape)
    # With more axes than x has, zeros stand for x's axes counted from the end.
    added = int(target.get_length()) - rank(x)
    own = opset.concat([i32([1] * added), shape_of(x)], 0)
    asked = as_index(shape)
    return opset.reshape(x, opset.select(opset.equal(asked, i32(0)), own, asked), False)


@mil_op(tested="NumPy")
def squeeze(x: Tensor, axes: IntList | None = None) -> Output:
    return opset.squeeze(x, None if axes is None else ints([axis_of(x, axis) for axis in axes]))


@mil_op(tested="NumPy")
def transpose(x: Tensor, perm: IntList) -> Output:
    if sorted(axis_of(x, axis) for axis in perm) != list(range(rank(x))):
        raise OpProblem(f"perm {perm} is no permutation of {rank(x)} axes")
    return opset.transpose(x, ints([axis_of(x, axis) for axis in perm]))


@mil_op(tested="NumPy")
def reverse(x: Tensor, axes: IntList | None = None) -> Output:
    chosen = [axis_of(x, axis) for axis in (range(rank(x)) if axes is None else axes)]
    if not chosen:
        return x
    last, one = [-1] * len(chosen), [-1] * len(chosen)
    lowest = [-(2**31)] * len(chosen)
    return opset.slice(x, ints(last), ints(lowest), ints(one), ints(chosen))


@mil_op(tested="NumPy")
def reverse_sequence(x: Tensor, lengths: Ints, seq_axis: Int = 0, batch_axis: Int = 0) -> Output:
    return opset.reverse_sequence(
        x, as_index(lengths), axis_of(x, batch_axis), axis_of(x, seq_axis)
    )


@mil_op(tested="NumPy")
def depth_to_space(x: Floats, block_size: Int) -> Output:
    return opset.depth_to_space(x, "blocks_first", block_size)


@mil_op(tested="NumPy")
def space_to_depth(x: Floats, block_size: Int) -> Output:
    return opset.space_to_depth(x, "blocks_first", block_size)


@mil_op(tested="NumPy")
def pixel_shuffle(x: Floats, upscale_factor: Int) -> Output:
    return opset.depth_to_space(x, "depth_first", upscale_factor)


@mil_op(since=16, tested="NumPy")
def pixel_unshuffle(x: Floats, downscale_factor: Int) -> Output:
    return opset.space_to_depth(x, "depth_first", downscale_factor)


@mil_op(tested="NumPy")
def space_to_batch(x: Floats, block_shape: IntList, paddings: IntList) -> Output:
    rest = rank(x) - len(block_shape)
    before, after = [0] * rest + paddings[0::2], [0] * rest + paddings[1::2]
    return opset.space_to_batch(x, ints([1] * rest + block_shape), ints(before), ints(after))


@mil_op(tested="NumPy")
def batch_to_space(x: Floats, block_shape: IntList, crops: IntList) -> Output:
    rest = rank(x) - len(block_shape)
    before, after = [0] * rest + crops[0::2], [0] * rest + crops[1::2]
    return opset.batch_to_space(x, ints([1] * rest + block_shape), ints(before), ints(after))


@mil_op(since=16, tested="NumPy")
def reshape_like(
    x: Tensor, ref_tensors: MixedTensors, begins: Raws, ends: Raws, end_masks: Raws
) -> Output:
    parts = []
    for reference, begin, end, mask in zip(ref_tensors, begins, ends, end_masks, strict=True):
        stop = rank(reference) if bool(mask.array) else int(end.array)
        sizes = shape_of(reference)
        parts.append(opset.slice(sizes, ints([int(begin.array)]), ints([stop]), ints([1])))
    return opset.reshape(x, opset.concat(parts, 0), False)
