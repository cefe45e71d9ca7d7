"""The base of all tables, and what can be done with a table without its bytes."""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from pteron.errors import FormatError
from pteron.flatbuf.declare import KEY, Declared, Union


class Table:
    """Base of every schema class. Equality, ``repr`` and copies are those of its fields.

    A vector of tables that came from a file is decoded when its attribute is first read, so
    reading an attribute may raise :class:`~pteron.errors.FormatError`.
    """

    __slots__ = ("_lazy",)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            try:
                load = object.__getattribute__(self, "_lazy")[name]
            except (AttributeError, KeyError):
                raise AttributeError(f"{type(self).__name__} has no field {name!r}") from None
            value = load()
            setattr(self, name, value)
            return value

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, slot.name) for slot in slots_of(type(self)))


TableT = TypeVar("TableT", bound=Table)


@dataclass(frozen=True)
class Slot:
    """One field of a table, with its number in the vtable (a union's is that of its tag)."""

    number: int
    name: str
    declared: Declared


_SLOTS: dict[type[Table], tuple[Slot, ...]] = {}


def slots_of(table: type[Table]) -> tuple[Slot, ...]:
    """The fields of ``table`` in declaration order, numbered as FlatBuffers numbers them."""
    slots = _SLOTS.get(table)
    if slots is None:
        slots = _SLOTS[table] = tuple(_number(table))
    return slots


def _number(table: type[Table]) -> Iterator[Slot]:
    number = 0
    for field in dataclasses.fields(table):  # type: ignore[arg-type]
        declared: Declared = field.metadata[KEY]
        yield Slot(number, field.name, declared)
        number += 2 if isinstance(declared.type, Union) else 1


def set_lazy(table: Table, loaders: dict[str, Callable[[], Any]]) -> None:
    """Unset the named fields; each is loaded when it is first read."""
    object.__setattr__(table, "_lazy", loaders)
    for name in loaders:
        delattr(table, name)


def clone(table: TableT) -> TableT:
    """A deep copy that shares nothing mutable; blobs stay views of the same bytes."""
    values = [getattr(table, slot.name) for slot in slots_of(type(table))]
    return type(table)(*map(_clone_value, values))


def _clone_value(value: Any) -> Any:
    if isinstance(value, Table):
        return clone(value)
    if isinstance(value, list):
        return [_clone_value(item) for item in value]
    return value


def decoding_errors(table: Table) -> Iterator[FormatError]:
    """Every fault below ``table``: where one vector does not decode, the others are still tried."""
    for slot in slots_of(type(table)):
        try:
            value = getattr(table, slot.name)
        except FormatError as fault:
            yield fault
            continue
        for item in value if isinstance(value, list) else (value,):
            if isinstance(item, Table):
                yield from decoding_errors(item)


def load_all(table: Table) -> None:
    """Decode everything below ``table``; raises :class:`~pteron.errors.FormatError`."""
    for fault in decoding_errors(table):
        raise fault


def differ(one: Any, other: Any) -> bool:
    """Whether two tables (or values of fields) would be written differently.

    Unlike ``!=``, a NaN equals itself, ``0.0`` differs from ``-0.0``, and what ``one`` has
    not decoded yet is taken to be as it was in ``other``.
    """
    if isinstance(one, Table):
        return type(one) is not type(other) or any(
            differ(getattr(one, slot.name), getattr(other, slot.name))
            for slot in slots_of(type(one))
            if not _is_untouched(one, slot.name)
        )
    if isinstance(one, list):
        return not isinstance(other, list) or len(one) != len(other) or any(map(differ, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return struct.pack("d", one) != struct.pack("d", other)
    return bool(one != other)


def _is_untouched(table: Table, name: str) -> bool:
    """Whether a lazy field has been neither read nor set."""
    try:
        object.__getattribute__(table, name)
    except AttributeError:
        return True
    return False
