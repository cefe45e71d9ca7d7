"""How a compiled function keeps a state: in a variable, or in pages that it is given."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from pteron.engines.openvino._import import ov
from pteron.errors import EngineError

Array = NDArray[np.generic]


class Slot(Protocol):
    """Where one state's value can live."""

    def read(self) -> Array:
        """A copy of the value, in the slot's own dtype."""
        ...

    def write(self, value: Array | None) -> None:
        """Set the value; None for zeros."""
        ...


class VariableSlot:
    """A variable of an inference request, in the state's own dtype."""

    def __init__(self, variable: Any) -> None:
        self._variable = variable

    def read(self) -> Array:
        return np.array(self._variable.state.data)

    def write(self, value: Array | None) -> None:
        if value is None:
            self._variable.reset()
        else:
            self._variable.state = ov.Tensor(value)


class PagesSlot:
    """Pages ``[pages, heads, rows of a page, size]`` of a state ``[1, heads, rows, size]``.

    The session owns the memory; a function updates it in place.
    """

    def __init__(self, element_type: Any, pages: tuple[int, ...], rows: int) -> None:
        self.tensor = ov.Tensor(element_type, ov.Shape(pages))
        self._rows = rows
        dtype = ml_dtypes.bfloat16 if element_type == ov.Type.bf16 else element_type.to_dtype()
        self._values = self.tensor.data.view(dtype)

    def read(self) -> Array:
        count, heads, block, size = self._values.shape
        rows = self._values.transpose(1, 0, 2, 3).reshape(1, heads, count * block, size)
        return np.array(rows[:, :, : self._rows])

    def write(self, value: Array | None) -> None:
        self._values[...] = 0
        if value is None:
            return
        count, heads, block, size = self._values.shape
        padded = np.zeros((heads, count * block, size), self._values.dtype)
        padded[:, : self._rows] = value[0]
        self._values[...] = padded.reshape(heads, count, block, size).transpose(1, 0, 2, 3)


@contextmanager
def kept_on_error(slots: Iterable[Slot]) -> Iterator[None]:
    """Give slots back what they hold now if what is done meanwhile is an EngineError.

    A call writes states where they are, so this copies them all before it.
    """
    before = [(slot, slot.read()) for slot in slots]
    try:
        yield
    except EngineError:
        for slot, value in before:
            slot.write(value)
        raise
