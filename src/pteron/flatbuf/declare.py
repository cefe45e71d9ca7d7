"""How a table's fields are declared: type, default and documentation, said once per field.

A schema class is a dataclass deriving from :class:`~pteron.flatbuf.table.Table`; the order of its
fields is the order of the vtable slots. The functions here make the dataclass fields::

    @dataclass(slots=True)
    class Operator(Table):
        name: str = string("Name in the operator registry.")
        overload: str = string("Overload, may be empty.")
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pteron.flatbuf.table import Table

Buffer = bytes | bytearray | memoryview
"""What a blob may be; blobs that were read are memoryviews."""

KEY = "flatbuf"
"""Key of a field's :class:`Declared` in its dataclass metadata."""


@dataclass(frozen=True)
class Scalar:
    """A number stored in place: its :mod:`struct` code and size in bytes."""

    name: str
    code: str
    size: int


BOOL = Scalar("bool", "?", 1)
INT8 = Scalar("int8", "b", 1)
UINT8 = Scalar("uint8", "B", 1)
INT32 = Scalar("int32", "i", 4)
UINT32 = Scalar("uint32", "I", 4)
INT64 = Scalar("int64", "q", 8)
UINT64 = Scalar("uint64", "Q", 8)
FLOAT64 = Scalar("float64", "d", 8)


@dataclass(frozen=True)
class Number:
    """One scalar field; ``members`` maps numbers to enum members where it is an enum."""

    scalar: Scalar
    members: dict[int, IntEnum] | None = None


@dataclass(frozen=True)
class String:
    """UTF-8 text."""


@dataclass(frozen=True)
class Blob:
    """A vector of bytes, kept as a view and never copied; its data is aligned to ``alignment``."""

    alignment: int


@dataclass(frozen=True)
class Numbers:
    """A vector of scalars, read as a list."""

    scalar: Scalar


@dataclass(frozen=True)
class Subtable:
    """One nested table."""

    table: type[Table]


@dataclass(frozen=True)
class Tables:
    """A vector of tables, decoded when the attribute is first read."""

    table: type[Table]


@dataclass(frozen=True)
class Union:
    """One of several tables; the tag (1, 2, ...) has a slot of its own before the value's."""

    tables: tuple[type[Table], ...]


FieldType = Number | String | Blob | Numbers | Subtable | Tables | Union


@dataclass(frozen=True)
class Declared:
    """What the codec knows of one field."""

    type: FieldType
    default: Any
    """Value of an absent field; for a fresh list, the class ``list``."""
    required: bool
    doc: str


def members(enum: type[IntEnum]) -> dict[int, IntEnum]:
    """Number -> member, for :func:`scalar`; a number that the enum lacks stays an int."""
    return {int(member): member for member in enum}


def scalar(kind: Scalar, doc: str, *, default: Any = 0, enum: type[IntEnum] | None = None) -> Any:
    """A number, a boolean, or (with ``enum``) an enum member."""
    known = members(enum) if enum else None
    return _field(Number(kind, known), known[int(default)] if known else default, doc)


def string(doc: str, *, optional: bool = False) -> Any:
    """Text; ``optional`` tells absent (``None``) from empty."""
    return _field(String(), None if optional else "", doc)


def blob(doc: str, *, alignment: int) -> Any:
    """Bytes, as a memoryview when read."""
    return _field(Blob(alignment), b"", doc)


def vector(kind: Scalar, doc: str) -> Any:
    """A list of numbers or booleans."""
    return _field(Numbers(kind), list, doc)


def subtable(table: type[Table], doc: str, *, required: bool = False) -> Any:
    """A nested table or ``None``; a ``required`` one starts as ``table()``, never absent."""
    return _field(Subtable(table), table if required else None, doc, required=required)


def tables(table: type[Table], doc: str, *, optional: bool = False) -> Any:
    """A list of tables; ``optional`` tells absent (``None``) from empty."""
    return _field(Tables(table), None if optional else list, doc)


def union(kinds: Sequence[type[Table]], doc: str) -> Any:
    """One of ``kinds``, numbered from 1 in this order, or ``None``."""
    return _field(Union(tuple(kinds)), None, doc)


def _field(kind: FieldType, default: Any, doc: str, *, required: bool = False) -> Any:
    declared = Declared(kind, default, required, doc)
    factory: Callable[[], Any] | None = default if isinstance(default, type) else None
    if factory is not None:
        return field(default_factory=factory, metadata={KEY: declared})
    return field(default=default, metadata={KEY: declared})
