"""What pteron wants of a backend's payload format; the face a plug-in implements.

A backend's author teaches pteron a format by giving an object of this shape to
:func:`pteron.payloads.register`, or by naming it in the entry-point group ``pteron.payloads``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from pteron.payloads.base import PayloadSource
from pteron.payloads.parts import Part

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class ValueSummary:
    """An input, output or state.

    Attributes:
        name: its name in the payload.
        dtype: element type in the format's own words, lower case (``float16``).
        shape: one number per axis, ``None`` where it is flexible.
    """

    name: str
    dtype: str
    shape: tuple[int | None, ...]


@dataclass(frozen=True)
class FunctionSummary:
    """Signature of a function and how often it uses each kind of operation."""

    name: str
    inputs: tuple[ValueSummary, ...] = ()
    outputs: tuple[ValueSummary, ...] = ()
    states: tuple[ValueSummary, ...] = ()
    operations: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class PayloadSummary:
    """What a payload is, in short.

    Attributes:
        format: name and version of the format (``Core ML program, specification 9``).
        functions: its functions, the default one first.
        default: name of the function that is called where none is named, or ``""``.
    """

    format: str
    functions: tuple[FunctionSummary, ...] = ()
    default: str = ""


@dataclass(frozen=True)
class Constant:
    """A weight of a payload.

    Attributes:
        name: its name in the payload, with the function's before it where there are several.
        dtype: element type in the format's own words, lower case.
        shape: sizes of its axes.
        data: its bytes as stored.
        read: its elements as an array of ``shape``; packed elements one per byte.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    data: memoryview
    read: Callable[[], NDArray[np.generic]]


class PayloadReader(Protocol):
    """Reads one backend's payloads. Every method raises FormatError for bytes that are none."""

    backend_id: str
    """The backend's id in program files (``CoreMLBackend``)."""

    def open(
        self, payload: memoryview, named_data: Mapping[str, memoryview], method: str
    ) -> PayloadSource:
        """The payload as a tree of files, references to named data resolved."""
        ...

    def parts(self, payload: memoryview, named_data: Mapping[str, memoryview]) -> Part:
        """What the payload's own bytes are made of; offsets from its start, size its length."""
        ...

    def named_parts(
        self, payload: memoryview, named_data: Mapping[str, memoryview]
    ) -> Mapping[str, Part]:
        """For each named blob the payload uses: what that blob is made of."""
        ...

    def summary(self, source: PayloadSource) -> PayloadSummary:
        """Functions, signatures, operations. UnsupportedError if this payload cannot tell."""
        ...

    def constants(self, source: PayloadSource) -> list[Constant]:
        """Every weight that can be read here, in stored order."""
        ...
