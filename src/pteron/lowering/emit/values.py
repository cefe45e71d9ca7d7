"""A method's table of values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pteron.errors import LoweringError
from pteron.lowering.emit.tensors import scalar_type
from pteron.schema.program import (
    Bool,
    BoolList,
    Double,
    DoubleList,
    EValue,
    Int,
    IntList,
    Null,
    OptionalTensorList,
    String,
    TensorList,
)


class Values:
    """Values in order of first use; equal constants share an entry."""

    def __init__(self) -> None:
        self.table: list[EValue] = []
        self._constants: dict[tuple[str, str], int] = {}

    def add(self, value: Any) -> int:
        """Append a value of the schema; gives its index."""
        self.table.append(EValue(val=value))
        return len(self.table) - 1

    def constant(self, value: Any, kind: str) -> int:
        """Index of a plain Python value that an operator declares as ``kind`` (``int[]``)."""
        key = (kind, repr(value))
        if key not in self._constants:
            self._constants[key] = self.add(self._scalar(value, kind.removesuffix("?")))
        return self._constants[key]

    def tensors(self, indices: Sequence[int | None], optional: bool) -> int:
        """A list of tensors, by their indices; ``None`` entries only where ``optional``."""
        items = [-1 if index is None else index for index in indices]
        return self.add(OptionalTensorList(items=items) if optional else TensorList(items=items))

    def ints(self, indices: Sequence[int]) -> int:
        """A list of integers, by the indices of their values."""
        return self.add(IntList(items=list(indices)))

    def _scalar(self, value: Any, kind: str) -> Any:
        import torch

        if value is None:
            return Null()
        if isinstance(value, (list, tuple)):
            return self._list(value, kind)
        if isinstance(value, bool):
            return Bool(bool_val=value)
        if isinstance(value, float) or kind == "float":
            return Double(double_val=float(value))
        if isinstance(value, int):
            return Int(int_val=value)
        if isinstance(value, str):
            return String(string_val=value)
        if isinstance(value, torch.dtype):
            return Int(int_val=int(scalar_type(value)))
        if isinstance(value, (torch.layout, torch.device)):
            return Int(int_val=0)  # strided, cpu: all that a program knows
        raise LoweringError(f"a program cannot hold the argument {value!r} of type {type(value)}")

    def _list(self, values: Sequence[Any], kind: str) -> Any:
        if kind.startswith("bool"):
            return BoolList(items=[bool(v) for v in values])
        if kind.startswith("float") or any(isinstance(v, float) for v in values):
            return DoubleList(items=[float(v) for v in values])
        return IntList(items=[self.constant(v, "int") for v in values])
