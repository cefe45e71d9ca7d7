"""Scalar types of ExecuTorch programs and their NumPy counterparts.

The numbers are those of ``enum ScalarType`` in ExecuTorch's ``scalar_type.fbs``. NumPy has no
bfloat16 and no float8; those come from ``ml_dtypes``, imported when first needed.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Any

from pteron.errors import UnsupportedError

if TYPE_CHECKING:
    import numpy as np


class ScalarType(IntEnum):
    """Element type of a tensor, numbered as in ExecuTorch's schema."""

    BYTE = 0
    CHAR = 1
    SHORT = 2
    INT = 3
    LONG = 4
    HALF = 5
    FLOAT = 6
    DOUBLE = 7
    BOOL = 11
    QINT8 = 12
    QUINT8 = 13
    QINT32 = 14
    BFLOAT16 = 15
    QUINT4X2 = 16
    QUINT2X4 = 17
    BITS16 = 22
    FLOAT8E5M2 = 23
    FLOAT8E4M3FN = 24
    FLOAT8E5M2FNUZ = 25
    FLOAT8E4M3FNUZ = 26
    UINT16 = 27
    UINT32 = 28
    UINT64 = 29


# scalar type -> (short name, bytes per element, NumPy name or "" where NumPy has none)
_TABLE: dict[ScalarType, tuple[str, int, str]] = {
    ScalarType.BYTE: ("uint8", 1, "uint8"),
    ScalarType.CHAR: ("int8", 1, "int8"),
    ScalarType.SHORT: ("int16", 2, "int16"),
    ScalarType.INT: ("int32", 4, "int32"),
    ScalarType.LONG: ("int64", 8, "int64"),
    ScalarType.HALF: ("float16", 2, "float16"),
    ScalarType.FLOAT: ("float32", 4, "float32"),
    ScalarType.DOUBLE: ("float64", 8, "float64"),
    ScalarType.BOOL: ("bool", 1, "bool"),
    ScalarType.QINT8: ("qint8", 1, "int8"),
    ScalarType.QUINT8: ("quint8", 1, "uint8"),
    ScalarType.QINT32: ("qint32", 4, "int32"),
    ScalarType.BFLOAT16: ("bfloat16", 2, "bfloat16"),
    ScalarType.QUINT4X2: ("quint4x2", 1, ""),
    ScalarType.QUINT2X4: ("quint2x4", 1, ""),
    ScalarType.BITS16: ("bits16", 2, "uint16"),
    ScalarType.FLOAT8E5M2: ("float8_e5m2", 1, "float8_e5m2"),
    ScalarType.FLOAT8E4M3FN: ("float8_e4m3fn", 1, "float8_e4m3fn"),
    ScalarType.FLOAT8E5M2FNUZ: ("float8_e5m2fnuz", 1, "float8_e5m2fnuz"),
    ScalarType.FLOAT8E4M3FNUZ: ("float8_e4m3fnuz", 1, "float8_e4m3fnuz"),
    ScalarType.UINT16: ("uint16", 2, "uint16"),
    ScalarType.UINT32: ("uint32", 4, "uint32"),
    ScalarType.UINT64: ("uint64", 8, "uint64"),
}
_IN_ML_DTYPES = ("bfloat16", "float8")


def scalar_type_name(scalar_type: int) -> str:
    """Short name such as ``float32``; ``scalar_type(99)`` for a number the schema lacks."""
    try:
        return _TABLE[ScalarType(scalar_type)][0]
    except ValueError:
        return f"scalar_type({scalar_type})"


def itemsize(scalar_type: int) -> int:
    """Bytes per element. Raises :class:`UnsupportedError` for a number the schema lacks."""
    try:
        return _TABLE[ScalarType(scalar_type)][1]
    except ValueError:
        raise UnsupportedError(f"unknown scalar type {scalar_type}") from None


def to_numpy(scalar_type: int) -> np.dtype[Any]:
    """NumPy dtype that holds the same elements (quantised types give their storage type).

    Raises :class:`UnsupportedError` for packed sub-byte types and unknown numbers.
    """
    import numpy as np

    try:
        name = _TABLE[ScalarType(scalar_type)][2]
    except ValueError:
        name = ""
    if not name:
        raise UnsupportedError(f"{scalar_type_name(scalar_type)} has no NumPy dtype")
    if name.startswith(_IN_ML_DTYPES):
        import ml_dtypes

        return np.dtype(getattr(ml_dtypes, name))  # type: ignore[no-any-return]
    return np.dtype(name)


def from_numpy(dtype: Any) -> ScalarType:
    """Scalar type of a NumPy dtype; raises :class:`UnsupportedError` where there is none."""
    import numpy as np

    name = np.dtype(dtype).name
    for scalar_type, (short, _, _) in _TABLE.items():
        if short == name:
            return scalar_type
    raise UnsupportedError(f"no ExecuTorch scalar type for NumPy dtype {name}")
