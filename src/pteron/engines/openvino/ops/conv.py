"""Convolutions over 1 to 3 axes (coremltools ``ops/defs/*/conv.py``)."""

from __future__ import annotations

from collections.abc import Sequence

from pteron.engines.openvino._import import opset
from pteron.engines.openvino.declare import Floats, Int, IntList, Text
from pteron.engines.openvino.graph import cast_like, ints, per_channel, rank, size, static_shape
from pteron.engines.openvino.problem import OpProblem
from pteron.engines.openvino.registry import mil_op
from pteron.engines.openvino.values import Output

AUTO_PAD = {
    "valid": "valid",
    "custom": "explicit",
    "same": "same_upper",
    "same_lower": "same_lower",
}


def auto_pad(pad_type: str) -> str:
    """OpenVINO's name of a MIL padding type."""
    if pad_type not in AUTO_PAD:
        raise OpProblem(f"there is no pad_type '{pad_type}'")
    return AUTO_PAD[pad_type]


def pads(pad: Sequence[int] | None, axes: int) -> tuple[list[int], list[int]]:
    """Split ``[before, after, before, after, ...]`` into befores and afters."""
    pad = list(pad or [0] * 2 * axes)
    if len(pad) != 2 * axes:
        raise OpProblem(f"pad has {len(pad)} numbers, needs {2 * axes}")
    return pad[0::2], pad[1::2]


@mil_op()
def conv(
    x: Floats,
    weight: Floats,
    bias: Floats | None = None,
    strides: IntList | None = None,
    pad_type: Text = "valid",
    pad: IntList | None = None,
    dilations: IntList | None = None,
    groups: Int = 1,
) -> Output:
    axes = rank(x) - 2
    ones = [1] * axes
    weight = cast_like(x, weight)
    before, after = pads(pad if pad_type == "custom" else None, axes)
    where = (strides or ones, before, after, dilations or ones, auto_pad(pad_type))
    _check_channels(x, weight, groups)
    if groups == 1:
        out = opset.convolution(x, weight, *where)
    else:
        out = opset.group_convolution(x, _grouped(weight, groups, 0), *where)
    return _with_bias(out.output(0), bias)


@mil_op()
def conv_transpose(
    x: Floats,
    weight: Floats,
    bias: Floats | None = None,
    pad: IntList | None = None,
    output_shape: IntList | None = None,
    pad_type: Text = "valid",
    strides: IntList | None = None,
    dilations: IntList | None = None,
    groups: Int = 1,
) -> Output:
    axes = rank(x) - 2
    strides, dilations = strides or [1] * axes, dilations or [1] * axes
    weight = cast_like(x, weight)
    full = [(k - 1) * d + 1 for k, d in zip(static_shape(weight)[2:], dilations, strict=True)]
    before, after = pads(pad if pad_type == "custom" else None, axes)
    if pad_type in ("same", "same_lower"):
        before, after = _same_pads(full, strides, pad_type)
    extra = [0] * axes
    if output_shape is not None:
        extra, after = _reach(x, output_shape[2:], full, strides, before, after)
    where = (None, before, after, dilations, "explicit", extra)
    if groups == 1:
        out = opset.convolution_backprop_data(x, weight, strides, *where)
    else:
        grouped = _grouped(weight, groups, 0)
        out = opset.group_convolution_backprop_data(x, grouped, strides, *where)
    return _with_bias(out.output(0), bias)


def _same_pads(full: list[int], strides: list[int], pad_type: str) -> tuple[list[int], list[int]]:
    """Padding that makes the output ``stride`` times the input."""
    total = [max(k - s, 0) for k, s in zip(full, strides, strict=True)]
    small, large = [t // 2 for t in total], [t - t // 2 for t in total]
    return (small, large) if pad_type == "same" else (large, small)


def _reach(
    x: Output,
    wanted: Sequence[int],
    full: list[int],
    strides: list[int],
    before: list[int],
    after: list[int],
) -> tuple[list[int], list[int]]:
    """Output padding and end padding with which the output has the wanted sizes."""
    extra, end = [], []
    for i, want in enumerate(wanted):
        given = size(x, i + 2)
        if given is None:
            raise OpProblem("output_shape needs an input of static shape")
        surplus = (given - 1) * strides[i] + full[i] - before[i] - after[i] - want
        extra.append(max(-surplus, 0))
        end.append(after[i] + max(surplus, 0))
    return extra, end


def _grouped(weight: Output, groups: int, axis: int) -> Output:
    shape = static_shape(weight)
    if shape[axis] % groups:
        raise OpProblem(f"{shape[axis]} filters cannot be split into {groups} groups")
    return opset.reshape(weight, ints([groups, shape[axis] // groups, *shape[1:]]), False).output(0)


def _check_channels(x: Output, weight: Output, groups: int) -> None:
    channels, per_group = size(x, 1), size(weight, 1)
    if channels is not None and per_group is not None and channels != per_group * groups:
        raise OpProblem(
            f"x has {channels} channels, but the weight is for {groups} group(s) of {per_group}"
        )


def _with_bias(out: Output, bias: Output | None) -> Output:
    return out if bias is None else opset.add(out, per_channel(out, bias))
