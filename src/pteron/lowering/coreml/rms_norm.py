"""The root-mean-square norm, past what coremltools 9.0 makes of it.

It divides the input by its largest magnitude, so that squares fit fp16, but then adds epsilon to
the mean of the *scaled* squares: for small activations the answer is wrong by percents, and zeros
become NaN. Here epsilon is scaled as well.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

LEAST = 2.0**-14
"""Smallest normal fp16 number: what may be divided by in either precision."""


@contextmanager
def with_scaled_epsilon() -> Iterator[None]:
    """While open, coremltools translates ``aten.rms_norm`` as PyTorch computes it."""
    from coremltools.converters.mil.frontend.torch.torch_op_registry import _TORCH_OPS_REGISTRY

    functions = _TORCH_OPS_REGISTRY.name_to_func_mapping
    with mock.patch.dict(functions, rms_norm=_translate):
        yield


def _translate(context: Any, node: Any) -> None:
    """``x / sqrt(mean(x**2) + eps)`` as ``y / sqrt(mean(y**2) + eps / m**2)``, ``y = x / m``."""
    from coremltools.converters.mil import Builder as mb  # noqa: N813
    from coremltools.converters.mil.frontend.torch.ops import _get_inputs
    from coremltools.converters.mil.mil.types import nptype_from_builtin

    x, shape, weight, epsilon = _get_inputs(context, node, expected=4)
    dtype = nptype_from_builtin(x.dtype)
    root = dtype(math.sqrt(_epsilon(epsilon, dtype)))
    axes = list(range(-len(shape.val), 0))
    largest = mb.reduce_max(x=mb.abs(x=x), axes=axes, keep_dims=True)
    scale = mb.maximum(x=largest, y=dtype(max(root, LEAST)))
    scaled = mb.real_div(x=x, y=scale)
    mean = mb.reduce_mean(x=mb.square(x=scaled), axes=axes, keep_dims=True)
    floor = mb.square(x=mb.real_div(x=root, y=scale))
    root_of_mean = mb.sqrt(x=mb.add(x=mean, y=floor))
    if weight is None:
        context.add(mb.real_div(x=scaled, y=root_of_mean, name=node.name))
        return
    normed = mb.real_div(x=scaled, y=root_of_mean)
    context.add(mb.mul(x=normed, y=weight, name=node.name))


def _epsilon(epsilon: Any, dtype: Any) -> float:
    """Epsilon; by default, as in PyTorch, the difference of 1 and the next number."""
    import numpy as np

    return float(np.finfo(dtype).eps if epsilon is None else epsilon.val)
