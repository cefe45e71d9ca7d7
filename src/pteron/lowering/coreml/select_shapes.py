"""The shape of ``select``, past what coremltools 9.0 takes it for.

It infers the shape from the two values and forgets the condition, which may have more elements:
``torch.where(mask, 0.0, -1e4)`` is a scalar to it where a size is flexible. Here a value gets the
condition's shape first.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock


@contextmanager
def with_shape_of_condition() -> Iterator[None]:
    """While open, every ``select`` that coremltools builds has the shape of all three operands."""
    from coremltools.converters.mil import Builder
    from coremltools.converters.mil.mil import Var

    build = Builder.select

    def select(**arguments: Any) -> Any:
        condition, *values = (arguments[name] for name in ("cond", "a", "b"))
        if all(isinstance(operand, Var) for operand in (condition, *values)):
            arguments["a"] = _wide_enough(condition, *values)
        return build(**arguments)

    with mock.patch.object(Builder, "select", select):
        yield


def _wide_enough(condition: Any, value: Any, other: Any) -> Any:
    """``value``, broadcast to the condition where that is of a shape which neither value has."""
    from coremltools.converters.mil.mil.ops.defs._utils import broadcast_shapes

    inferred = broadcast_shapes(value.shape, other.shape)
    is_right = broadcast_shapes(inferred, condition.shape) == inferred
    return value if is_right else _broadcast(value, condition)


def _broadcast(value: Any, condition: Any) -> Any:
    from coremltools.converters.mil import Builder as mb  # noqa: N813
    from coremltools.converters.mil.mil import types

    shape = mb.shape(x=condition)
    if value.val is not None and value.rank == 0:
        return mb.fill(shape=shape, value=value.val)
    zeros = mb.fill(shape=shape, value=types.nptype_from_builtin(value.dtype)(0))
    join = mb.logical_or if types.is_bool(value.dtype) else mb.add
    return join(x=value, y=zeros)
