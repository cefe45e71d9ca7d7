"""MIL's value types (``MIL.proto``, message ValueType) as small records, checked when read."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np

from pteron.engines.openvino._import import ov
from pteron.engines.openvino.problem import OpProblem
from pteron.payloads.coreml.proto import mil_pb2 as mil

# MIL data type -> (name, bits per element, OpenVINO element type or None)
_TABLE: dict[int, tuple[str, int, Any]] = {
    mil.BOOL: ("bool", 8, ov.Type.boolean),
    mil.STRING: ("string", 0, None),
    mil.FLOAT16: ("float16", 16, ov.Type.f16),
    mil.FLOAT32: ("float32", 32, ov.Type.f32),
    mil.FLOAT64: ("float64", 64, ov.Type.f64),
    mil.BFLOAT16: ("bfloat16", 16, ov.Type.bf16),
    mil.INT8: ("int8", 8, ov.Type.i8),
    mil.INT16: ("int16", 16, ov.Type.i16),
    mil.INT32: ("int32", 32, ov.Type.i32),
    mil.INT64: ("int64", 64, ov.Type.i64),
    mil.INT4: ("int4", 4, ov.Type.i4),
    mil.UINT8: ("uint8", 8, ov.Type.u8),
    mil.UINT16: ("uint16", 16, ov.Type.u16),
    mil.UINT32: ("uint32", 32, ov.Type.u32),
    mil.UINT64: ("uint64", 64, ov.Type.u64),
    mil.UINT4: ("uint4", 4, ov.Type.u4),
    mil.UINT2: ("uint2", 2, ov.Type.u2),
    mil.UINT1: ("uint1", 1, ov.Type.u1),
    mil.UINT6: ("uint6", 6, ov.Type.u6),
    mil.UINT3: ("uint3", 3, ov.Type.u3),
    mil.FLOAT8E4M3FN: ("float8_e4m3fn", 8, ov.Type.f8e4m3),
    mil.FLOAT8E5M2: ("float8_e5m2", 8, ov.Type.f8e5m2),
}
_ELEMENT_TYPES = {name: element_type for name, _, element_type in _TABLE.values()}
_NAMES = {str(kind): name for name, kind in _ELEMENT_TYPES.items() if kind is not None}
_BITS = {name: bits for name, bits, _ in _TABLE.values()}
_MAX_RANK = 16


@cache
def _machine_memory() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 1 << 40


@dataclass(frozen=True)
class TensorType:
    """A tensor's element type, by NumPy's name, and shape; ``None`` where an axis is flexible."""

    dtype: str
    shape: tuple[int | None, ...]

    @property
    def element_type(self) -> Any:
        """OpenVINO's element type, ``None`` for strings."""
        return _ELEMENT_TYPES[self.dtype]

    @property
    def storage(self) -> np.dtype[Any]:
        """NumPy dtype of a constant's array; packed types are one int8 or uint8 per element."""
        if bit_width(self.dtype) < 8:
            return np.dtype(np.int8 if self.dtype == "int4" else np.uint8)
        exotic = self.dtype.startswith(("bfloat", "float8"))
        name: Any = getattr(ml_dtypes, self.dtype) if exotic else self.dtype
        dtype: np.dtype[Any] = np.dtype(name)
        return dtype

    @property
    def partial_shape(self) -> Any:
        return ov.PartialShape([-1 if size is None else size for size in self.shape])

    def __str__(self) -> str:
        return f"{self.dtype}[{', '.join('?' if n is None else str(n) for n in self.shape)}]"


@dataclass(frozen=True)
class ListType:
    """A list of tensors; ``length`` is ``None`` where it grows."""

    element: TensorType
    length: int | None


@dataclass(frozen=True)
class StateType:
    """A state that holds a tensor."""

    tensor: TensorType


@dataclass(frozen=True)
class DictionaryType:
    """A dictionary, which only ``classify`` makes: class label to probability."""

    key: str


AnyType = TensorType | ListType | StateType | DictionaryType


def dtype_of(output: Any) -> str:
    """Name of the element type of an OpenVINO output."""
    return _NAMES[str(output.get_element_type())]


def element_type(dtype: str) -> Any:
    """OpenVINO's element type for a MIL or NumPy dtype name (MIL's short forms included)."""
    name = {"fp16": "float16", "fp32": "float32", "fp64": "float64"}.get(dtype, dtype)
    found = _ELEMENT_TYPES.get(name)
    if found is None:
        raise OpProblem(f"there is no element type '{dtype}'")
    return found


def read_type(proto: mil.ValueType) -> AnyType:
    """Decode a ValueType; an impossible or absurdly large one is an :class:`OpProblem`."""
    kind = proto.WhichOneof("type")
    if kind == "tensorType":
        return _read_tensor_type(proto.tensorType)
    if kind == "listType":
        return ListType(_tensor_inside(proto.listType.type, "list"), _size(proto.listType.length))
    if kind == "stateType":
        return StateType(_tensor_inside(proto.stateType.wrappedType, "state"))
    if kind == "dictionaryType":
        return DictionaryType(_tensor_inside(proto.dictionaryType.keyType, "dictionary").dtype)
    raise OpProblem(f"a value of type '{kind}' is not supported")


def _tensor_inside(proto: mil.ValueType, holder: str) -> TensorType:
    inside = read_type(proto)
    if not isinstance(inside, TensorType):
        raise OpProblem(f"a {holder} of anything but tensors is not supported")
    return inside


def _read_tensor_type(proto: mil.TensorType) -> TensorType:
    if proto.dataType not in _TABLE:
        raise OpProblem(f"unknown data type {proto.dataType}")
    name = _TABLE[proto.dataType][0]
    if proto.rank not in (len(proto.dimensions), -1) or len(proto.dimensions) > _MAX_RANK:
        raise OpProblem(f"rank {proto.rank} with {len(proto.dimensions)} dimensions")
    type = TensorType(name, tuple(_size(dimension) for dimension in proto.dimensions))
    check_memory(type)
    return type


def check_memory(type: TensorType, share: int = 1) -> None:
    """An :class:`OpProblem` for a tensor larger than one ``share``-th of this machine's memory."""
    size = math.prod(1 if n is None else n for n in type.shape) * bit_width(type.dtype) // 8
    if size > _machine_memory() // share:
        part = "this machine's memory" if share == 1 else f"1/{share} of this machine's memory"
        raise OpProblem(f"{type} needs {size:,} bytes, more than {part}")


def check_output(output: Any) -> None:
    """The same for what an operation gives, as far as its shape is known; half the memory is its.

    OpenVINO may compute it when it compiles, beside what it is computed from.
    """
    shape = output.get_partial_shape()
    if shape.is_static:
        check_memory(TensorType(dtype_of(output), tuple(shape.to_shape())), share=2)


def bit_width(dtype: str) -> int:
    """Bits of one element (0 for strings)."""
    return _BITS[dtype]


def _size(proto: mil.Dimension) -> int | None:
    return proto.constant.size if proto.WhichOneof("dimension") == "constant" else None
