"""Known values of a MIL program (``MIL.proto``, message Value) as NumPy arrays.

Large ones lie in the package's weight file and are used in place, without a copy.
"""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pteron.engines.openvino.problem import OpProblem
from pteron.engines.openvino.types import ListType, TensorType, bit_width, read_type
from pteron.engines.openvino.values import Value
from pteron.errors import FormatError
from pteron.payloads.coreml.proto import mil_pb2 as mil
from pteron.payloads.packed import unpack


class Weights(Protocol):
    """Where constants of a program lie that are not in the program itself."""

    def blob(self, file_name: str, offset: int, type: TensorType) -> NDArray[Any]:
        """The array that a BlobFileValue names; raises FormatError when it is not there."""
        ...


def read_value(proto: mil.Value, weights: Weights) -> Value:
    """Decode a constant; raises :class:`OpProblem` when its type and content disagree."""
    type = read_type(proto.type)
    kind = proto.WhichOneof("value")
    if kind == "blobFileValue" and isinstance(type, TensorType):
        return Value(type, array=_read_blob(proto.blobFileValue, type, weights))
    if kind == "immediateValue":
        return Value(type, array=_read_immediate(proto.immediateValue, type))
    raise OpProblem(f"a constant of type {type} has no value")


def _read_blob(blob: mil.Value.BlobFileValue, type: TensorType, weights: Weights) -> NDArray[Any]:
    try:
        return weights.blob(blob.fileName, blob.offset, type)
    except FormatError as error:
        raise OpProblem(f"weights at {blob.fileName}:{blob.offset}: {error}") from error


def _read_immediate(proto: mil.Value.ImmediateValue, type: Any) -> NDArray[Any]:
    if isinstance(type, ListType) and proto.WhichOneof("value") == "list":
        return _read_list(proto.list, type)
    if not isinstance(type, TensorType) or proto.WhichOneof("value") != "tensor":
        raise OpProblem(f"a constant of type {type} holds a {proto.WhichOneof('value')}")
    flat = _flat(proto.tensor, type)
    shape = [n for n in type.shape if n is not None]
    if len(shape) != len(type.shape) or flat.size != math.prod(shape):
        raise OpProblem(f"a constant of type {type} holds {flat.size} elements")
    return flat.reshape(shape)


def _read_list(proto: mil.ListValue, type: ListType) -> NDArray[Any]:
    items = [_flat(value.immediateValue.tensor, type.element) for value in proto.values]
    return np.array([item.reshape(()).item() for item in items])


def _flat(proto: mil.TensorValue, type: TensorType) -> NDArray[Any]:
    kind = proto.WhichOneof("value")
    if kind is None:
        return np.empty(0, np.str_ if type.dtype == "string" else type.storage)
    values = getattr(proto, kind).values
    if kind == "bytes":
        return _from_bytes(values, type)
    if kind == "strings":
        return np.array(list(values), dtype=np.str_)
    try:
        return np.fromiter(values, dtype=type.storage, count=len(values))
    except (OverflowError, ValueError) as error:
        raise OpProblem(f"a constant of type {type}: {error}") from error


def _from_bytes(data: bytes, type: TensorType) -> NDArray[Any]:
    if type.dtype == "string":
        raise OpProblem(f"a constant of type {type} holds bytes")
    if bit_width(type.dtype) < 8:
        count = math.prod(size or 0 for size in type.shape)
        if len(data) * 8 < count * bit_width(type.dtype):
            raise OpProblem(f"{len(data)} bytes are too few for {type}")
        signed = type.dtype == "int4"
        return unpack(memoryview(data), bit_width(type.dtype), count, signed=signed)
    if len(data) % type.storage.itemsize:
        raise OpProblem(f"{len(data)} bytes are no whole number of {type.dtype} elements")
    return np.frombuffer(data, type.storage)
