"""Constants as the text form writes them: a type and, in parentheses, what is of that type.

A tensor is one word, or words in nested ``[...]``; a list ``[...]``, a tuple ``(...)``, a
dictionary ``{{key, value}, ...}``. What lies in a weight file is ``BLOBFILE(path = ...,
offset = ...)``, both of them values again.
"""

from __future__ import annotations

import math

from pteron.payloads.coreml.proto import mil_pb2 as mil
from pteron.payloads.coreml.text.cursor import Cursor
from pteron.payloads.coreml.text.elements import encode
from pteron.payloads.coreml.text.types import read_type


def read_value(cursor: Cursor, head: str | None = None) -> mil.Value:
    """A type and its value; ``head`` is the type's first word where that has been read already."""
    value = mil.Value(type=read_type(cursor, head))
    cursor.expect("(")
    if cursor.accept("BLOBFILE"):
        value.blobFileValue.CopyFrom(_blob(cursor))
    else:
        _fill(cursor, value)
    cursor.expect(")")
    return value


def read_named_values(cursor: Cursor, close: str) -> dict[str, mil.Value]:
    """``name = value, ...`` up to and over ``close``."""
    values: dict[str, mil.Value] = {}

    def read(at: Cursor) -> None:
        name = at.take("name")
        if name in values:
            raise at.fault(f"'{name:.80}' is given twice")
        at.expect("=")
        values[name] = read_value(at)

    cursor.separated(read, close)
    return values


def _blob(cursor: Cursor) -> mil.Value.BlobFileValue:
    cursor.expect("(")
    with cursor.nested():
        given = read_named_values(cursor, ")")
    path = given.get("path", mil.Value()).immediateValue.tensor.strings.values
    offset = given.get("offset", mil.Value()).immediateValue.tensor.longInts.values
    if len(path) != 1 or len(offset) != 1 or offset[0] < 0:
        raise cursor.fault("a BLOBFILE needs one path (string) and one offset (uint64)")
    return mil.Value.BlobFileValue(fileName=path[0], offset=offset[0])


def _fill(cursor: Cursor, value: mil.Value) -> None:
    """Read what is of the value's type into it."""
    kind = value.type.WhichOneof("type")
    if kind not in _FILLERS:
        raise cursor.fault(f"there are no constants of {kind}")
    with cursor.nested():
        _FILLERS[kind](cursor, value)


def _of(cursor: Cursor, type: mil.ValueType) -> mil.Value:
    value = mil.Value(type=type)
    _fill(cursor, value)
    return value


def _fill_tensor(cursor: Cursor, value: mil.Value) -> None:
    type = value.type.tensorType
    words: list[str] = []
    _collect(cursor, words, type.dataType == mil.STRING)
    sizes = [d.constant.size for d in type.dimensions if d.WhichOneof("dimension") == "constant"]
    if len(sizes) == len(type.dimensions) and len(words) != math.prod(sizes):
        raise cursor.fault(f"{len(words)} elements for a tensor of {sizes}")
    try:
        value.immediateValue.tensor.CopyFrom(encode(words, type.dataType))
    except (ValueError, OverflowError) as error:
        raise cursor.fault(str(error)) from None


def _collect(cursor: Cursor, words: list[str], strings: bool) -> None:
    """The words of a tensor, brackets left out."""
    if not cursor.accept("["):
        words.append(cursor.take_string() if strings else _word(cursor))
        return
    with cursor.nested():
        cursor.separated(lambda at: _collect(at, words, strings), "]")


def _word(cursor: Cursor) -> str:
    return cursor.take("name" if cursor.kind == "name" else "number")


def _fill_list(cursor: Cursor, value: mil.Value) -> None:
    values = value.immediateValue.list
    values.SetInParent()
    element = value.type.listType.type
    close = "]" if cursor.accept("[") else ")"
    if close == ")":
        cursor.expect("(")
    cursor.separated(lambda at: values.values.append(_of(at, element)), close)


def _fill_tuple(cursor: Cursor, value: mil.Value) -> None:
    cursor.expect("(")
    for index, type in enumerate(value.type.tupleType.types):
        if index:
            cursor.expect(",")
        value.immediateValue.tuple.values.append(_of(cursor, type))
    cursor.expect(")")


def _fill_dictionary(cursor: Cursor, value: mil.Value) -> None:
    type = value.type.dictionaryType
    pairs = value.immediateValue.dictionary
    pairs.SetInParent()

    def read(at: Cursor) -> None:
        at.expect("{")
        key = _of(at, type.keyType)
        at.expect(",")
        pairs.values.add(key=key, value=_of(at, type.valueType))
        at.expect("}")

    cursor.expect("{")
    cursor.separated(read, "}")


_FILLERS = {
    "tensorType": _fill_tensor,
    "listType": _fill_list,
    "tupleType": _fill_tuple,
    "dictionaryType": _fill_dictionary,
}
