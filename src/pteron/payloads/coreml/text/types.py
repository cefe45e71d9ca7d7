"""Types as the text form writes them: ``tensor<fp16, [1, ?]>``, ``state<...>``, ``int32``, ..."""

from __future__ import annotations

from typing import Any

from pteron.payloads.coreml.proto import mil_pb2 as mil
from pteron.payloads.coreml.text.cursor import Cursor

DTYPES: dict[str, Any] = {
    "bool": mil.BOOL,
    "string": mil.STRING,
    "fp16": mil.FLOAT16,
    "fp32": mil.FLOAT32,
    "fp64": mil.FLOAT64,
    "bf16": mil.BFLOAT16,
    "fp8e4m3fn": mil.FLOAT8E4M3FN,
    "fp8e5m2": mil.FLOAT8E5M2,
    **{f"int{bits}": mil.DataType.Value(f"INT{bits}") for bits in (4, 8, 16, 32, 64)},
    **{f"uint{bits}": mil.DataType.Value(f"UINT{bits}") for bits in (1, 2, 3, 4, 6, 8, 16, 32, 64)},
}


def read_type(cursor: Cursor, head: str | None = None) -> mil.ValueType:
    """A type; ``head`` is its first word where that has been read already."""
    name = head or cursor.take("name")
    with cursor.nested():
        if name in DTYPES:  # a scalar
            return mil.ValueType(tensorType=mil.TensorType(dataType=DTYPES[name]))
        if name not in _READERS:
            raise cursor.fault(f"there is no type '{name:.40}'")
        cursor.expect("<")
        result = _READERS[name](cursor)
        cursor.expect(">")
    return result


def _tensor(cursor: Cursor) -> mil.ValueType:
    name = cursor.take("name")
    if name not in DTYPES:
        raise cursor.fault(f"there is no element type '{name:.40}'")
    tensor = mil.TensorType(dataType=DTYPES[name])
    cursor.expect(",")
    cursor.expect("[")
    cursor.separated(lambda at: tensor.dimensions.append(_dimension(at)), "]")
    tensor.rank = len(tensor.dimensions)
    return mil.ValueType(tensorType=tensor)


def _list(cursor: Cursor) -> mil.ValueType:
    element = read_type(cursor)
    cursor.expect(",")
    return mil.ValueType(listType=mil.ListType(type=element, length=_dimension(cursor)))


def _tuple(cursor: Cursor) -> mil.ValueType:
    types = [read_type(cursor)]
    while cursor.accept(","):
        types.append(read_type(cursor))
    return mil.ValueType(tupleType=mil.TupleType(types=types))


def _dictionary(cursor: Cursor) -> mil.ValueType:
    key = read_type(cursor)
    cursor.expect(",")
    kinds = mil.DictionaryType(keyType=key, valueType=read_type(cursor))
    return mil.ValueType(dictionaryType=kinds)


def _state(cursor: Cursor) -> mil.ValueType:
    return mil.ValueType(stateType=mil.StateType(wrappedType=read_type(cursor)))


_READERS = {
    "tensor": _tensor,
    "list": _list,
    "tuple": _tuple,
    "dict": _dictionary,
    "state": _state,
}


def _dimension(cursor: Cursor) -> mil.Dimension:
    if cursor.accept("?"):
        return mil.Dimension(unknown=mil.Dimension.UnknownDimension())
    size = mil.Dimension.ConstantDimension(size=cursor.take_size())
    return mil.Dimension(constant=size)
