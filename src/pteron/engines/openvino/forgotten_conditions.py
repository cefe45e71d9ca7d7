"""Shapes of ``select`` that coremltools (9.0) declares without regard to the condition.

It infers them from the two values. A condition with more elements, which MIL broadcasts as it does
the values, is forgotten where a size is flexible: ``torch.where(mask, 0.0, -1e4)`` is declared a
scalar, and so is what is computed from it. Such values are taken to be of the shape that they have.
"""

from __future__ import annotations

from typing import Any

from pteron.engines.openvino._import import ov
from pteron.engines.openvino.types import AnyType, TensorType
from pteron.payloads.coreml.proto import mil_pb2 as mil


class ForgottenConditions:
    """Knows the values of one function that have more elements than is declared."""

    def __init__(self) -> None:
        self._names: set[str] = set()

    def correct(self, type: AnyType, operation: mil.Operation, name: str, built: Any) -> AnyType:
        """The type of output ``name`` of an operation, which is declared as ``type``."""
        if not isinstance(type, TensorType) or not isinstance(built, (ov.Node, ov.Output)):
            return type
        output = built.output(0) if isinstance(built, ov.Node) else built
        shape = output.get_partial_shape()
        if not self._is_affected(operation) or not _is_narrower(type.partial_shape, shape):
            return type
        self._names.add(name)
        return TensorType(
            type.dtype, tuple(None if size.is_dynamic else size.get_length() for size in shape)
        )

    def _is_affected(self, operation: mil.Operation) -> bool:
        return operation.type == "select" or any(
            binding.name in self._names
            for argument in operation.inputs.values()
            for binding in argument.arguments
        )


def _is_narrower(declared: Any, shape: Any) -> bool:
    """Whether a declared shape is another one than ``shape``, but broadcasts to it."""
    if shape.rank.is_dynamic or declared.compatible(shape) or len(declared) > len(shape):
        return False
    pairs = zip(reversed(list(declared)), reversed(list(shape)), strict=False)
    return all(size == 1 or size.compatible(wide) for size, wide in pairs)
