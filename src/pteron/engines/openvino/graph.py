"""Small pieces of OpenVINO graph that many ops are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pteron.engines.openvino._import import opset, ov
from pteron.engines.openvino.problem import OpProblem

Output = Any  # openvino.Output, whose bindings carry no types


def rank(x: Output) -> int:
    """Number of axes; every op here needs it to be known."""
    shape = x.get_partial_shape()
    if shape.rank.is_dynamic:
        raise OpProblem("a tensor of unknown rank is not supported")
    return int(shape.rank.get_length())


def static_shape(x: Output) -> tuple[int, ...]:
    """The shape, where an op cannot do without every size of it."""
    shape = x.get_partial_shape()
    if shape.is_dynamic:
        raise OpProblem(f"a tensor of flexible shape {shape} is not supported here")
    return tuple(int(n) for n in shape.to_shape())


def size(x: Output, axis: int) -> int | None:
    """Size of an axis, ``None`` where flexible."""
    dimension = x.get_partial_shape()[axis]
    return None if dimension.is_dynamic else int(dimension.get_length())


def axis_of(x: Output, axis: int, extra: int = 0) -> int:
    """A non-negative axis; ``extra`` is how many axes the op adds to the tensor."""
    count = rank(x) + extra
    if not -count <= axis < count:
        raise OpProblem(f"axis {axis} is out of range for rank {count}")
    return axis % count


def ints(values: Sequence[int]) -> Any:
    """An int64 vector."""
    return opset.constant(np.array(values, dtype=np.int64))


def i32(value: int | Sequence[int]) -> Any:
    """An int32 constant, the type of sizes and indices in MIL."""
    return opset.constant(np.array(value, dtype=np.int32))


def i64(value: int) -> Any:
    """An int64 scalar, the type OpenVINO wants for an axis."""
    return opset.constant(np.array(value, dtype=np.int64))


def boolean(value: bool) -> Any:
    """A bool scalar."""
    return opset.constant(np.array(value))


def like(x: Output, value: float) -> Any:
    """A scalar of the same element type as ``x``."""
    return opset.constant(value, x.get_element_type())


def cast_like(x: Output, y: Output) -> Output:
    """``y`` in the element type of ``x``."""
    if x.get_element_type() == y.get_element_type():
        return y
    return opset.convert(y, x.get_element_type()).output(0)


def per_channel(x: Output, vector: Output) -> Output:
    """A vector of one value per channel (axis 1), shaped to broadcast over ``x``."""
    shape = [1, -1, *[1] * (rank(x) - 2)]
    return opset.reshape(cast_like(x, vector), ints(shape), False).output(0)


def shape_of(x: Output) -> Output:
    """The shape as an int32 vector."""
    return opset.shape_of(x, "i32").output(0)


def as_index(x: Output) -> Output:
    """Indices as int32, the type the graph indexes with."""
    return x if x.get_element_type() == ov.Type.i32 else opset.convert(x, ov.Type.i32).output(0)


def safe_index(indices: Output, length: Any) -> Any:
    """Indices counted from the front and kept inside: OpenVINO's scatters write wherever they are
    told to, also outside of the tensor."""
    front = opset.select(opset.less(indices, i32(0)), opset.add(indices, length), indices)
    return opset.minimum(opset.maximum(front, i32(0)), opset.subtract(length, i32(1)))


def nonzero(x: Output) -> Output:
    """1 where the value is 0: a Range of OpenVINO's divides by its step, which ends the process."""
    if is_constant(x) and x.get_node().data.all():
        return x
    return opset.select(opset.equal(x, like(x, 0)), like(x, 1), x).output(0)


def is_constant(x: Output) -> bool:
    """Whether a value is one of the program's constants."""
    return bool(x.get_node().get_type_name() == "Constant")


def through(x: Output, dtype: str, build: Any) -> Output:
    """Do in another element type what OpenVINO cannot do in this one."""
    return opset.convert(build(opset.convert(x, dtype).output(0)), x.get_element_type()).output(0)
