"""Lists of tensors (coremltools ``ops/defs/iOS15/control_flow.py``).

A list is one tensor, its elements stacked along the first axis. Where the elements' shape is not
known when the list is made, its axes are 1 until the first element is written. A list whose type
has no length grows when it is written past its end (programs declare the first length there).
"""

from __future__ import annotations

from typing import Any

from pteron.engines.openvino._import import opset
from pteron.engines.openvino.declare import Context, Flag, Ints, Raw, Raws, Tensor, Text
from pteron.engines.openvino.graph import as_index, i32, i64, ints, rank, safe_index, shape_of
from pteron.engines.openvino.problem import OpProblem
from pteron.engines.openvino.registry import mil_op
from pteron.engines.openvino.types import ListType, element_type
from pteron.engines.openvino.values import Output, Value


@mil_op(tested="NumPy")
def make_list(
    context: Context,
    elem_shape: Raws,
    init_length: Ints | None = None,
    dynamic_length: Flag = True,
    dtype: Text = "fp32",
) -> Value:
    (type,) = context.output_types()
    if not isinstance(type, ListType):
        raise OpProblem(f"its output is declared as {type}")
    length = i32(1) if init_length is None else as_index(init_length)
    element = i32([1 if size is None else size for size in type.element.shape])
    sizes = opset.concat([opset.reshape(length, ints([1]), False), element], 0)
    zero = opset.convert(i32(0), element_type(dtype))
    kept = ListType(type.element, None if dynamic_length else type.length)
    return Value(kept, output=opset.broadcast(zero, sizes).output(0))


@mil_op(tested="NumPy")
def list_length(ls: Raw) -> Output:
    return _length(_tensor(ls))


@mil_op(tested="NumPy")
def list_read(ls: Raw, index: Ints) -> Output:
    return opset.gather(_tensor(ls), opset.squeeze(as_index(index)), i64(0))


@mil_op(tested="NumPy")
def list_gather(ls: Raw, indices: Ints) -> Output:
    return opset.gather(_tensor(ls), as_index(indices), i64(0))


@mil_op(tested="NumPy")
def list_write(ls: Raw, index: Ints, value: Tensor) -> Value:
    place = opset.reshape(as_index(index), ints([1]), False)
    return _written(ls, place, opset.unsqueeze(value, ints([0])))


@mil_op(tested="NumPy")
def list_scatter(ls: Raw, indices: Ints, value: Tensor) -> Value:
    return _written(ls, as_index(indices), value)


def _written(ls: Value, places: Any, values: Any) -> Value:
    shaped = _with_element_shape(_tensor(ls), values)
    assert isinstance(ls.type, ListType)
    if ls.type.length is None:
        shaped = _grown(shaped, places)
    inside = safe_index(places, _length(shaped.output(0)))
    written = opset.scatter_update(shaped, inside, values, i64(0))
    return Value(ls.type, output=written.output(0))


def _with_element_shape(ls: Output, values: Any) -> Any:
    element = opset.slice(opset.shape_of(values, "i32"), i32([1]), i32([2**31 - 1]), i32([1]))
    length = opset.reshape(_length(ls), ints([1]), False)
    return opset.broadcast(ls, opset.concat([length, element], 0), "BIDIRECTIONAL")


def _grown(ls: Any, places: Any) -> Any:
    """The list, with zeros at its end up to the last place to be written."""
    needed = opset.add(opset.reduce_max(places, ints([0]), False), i32(1))
    missing = opset.maximum(opset.subtract(needed, _length(ls.output(0))), i32(0))
    count = rank(ls.output(0))
    after = opset.concat([opset.reshape(missing, ints([1]), False), i32([0] * (count - 1))], 0)
    zero = opset.convert(i32(0), ls.output(0).get_element_type())
    return opset.pad(ls, i32([0] * count), after, "constant", zero)


def _length(ls: Output) -> Output:
    return opset.gather(shape_of(ls), i64(0), i64(0)).output(0)


def _tensor(ls: object) -> Output:
    if not isinstance(ls, Value) or not isinstance(ls.type, ListType):
        raise OpProblem("needs a list")
    return ls.tensor()
