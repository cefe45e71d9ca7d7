"""Operators in terms of others, where torch has no decomposition that backends can use."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor


def rewrites() -> dict[Any, Callable[..., Any]]:
    """Operator -> the function that stands for it."""
    import torch

    aten = torch.ops.aten
    return {
        aten.add.Tensor: _add,
        aten.sub.Tensor: _sub,
        aten.argmax.default: functools.partial(_arg_extreme, torch.argmax),
        aten.argmin.default: functools.partial(_arg_extreme, torch.argmin),
        aten.as_strided.default: _as_strided,
        aten.as_strided_scatter.default: _as_strided_scatter,
        aten.diagonal.default: _diagonal,
        aten.diagonal_scatter.default: _diagonal_scatter,
        aten.index_add.default: _index_add,
        aten.lerp.Scalar: _lerp,
        aten.var_mean.correction: _var_mean,
    }


def _add(self: Tensor, other: Tensor, *, alpha: float = 1) -> Tensor:
    return NotImplemented if alpha == 1 else self + other * alpha


def _sub(self: Tensor, other: Tensor, *, alpha: float = 1) -> Tensor:
    return NotImplemented if alpha == 1 else self - other * alpha


def _arg_extreme(
    find: Callable[..., Tensor], self: Tensor, dim: int | None = None, keepdim: bool = False
) -> Tensor:
    return NotImplemented if dim is not None or keepdim else find(self.reshape(-1), 0)


def _lerp(self: Tensor, end: Tensor, weight: float) -> Tensor:
    if abs(weight) < 0.5:
        return self + (end - self) * weight
    return end - (end - self) * (1 - weight)


def _var_mean(
    self: Tensor,
    dim: Sequence[int] | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
) -> tuple[Tensor, Tensor]:
    axes = list(range(self.dim())) if dim is None else list(dim)
    count = 1
    for axis in axes:
        count = count * self.shape[axis]
    divisor = count - (1 if correction is None else correction)
    mean = self.mean(axes, keepdim=True)
    deviation = self - mean
    variance = (deviation * deviation).sum(axes, keepdim=keepdim) / divisor
    return variance, mean if keepdim else self.mean(axes)


def _index_add(
    self: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: float = 1
) -> Tensor:
    shape = [1] * source.dim()
    shape[dim] = -1
    places = index.reshape(shape).expand(source.shape)
    return self.scatter_add(dim, places, source if alpha == 1 else source * alpha)


def _places(size: Sequence[int], stride: Sequence[int], offset: int) -> Tensor:
    """Index in the flat storage of every element of a strided view."""
    import torch

    places = torch.full((), offset, dtype=torch.int64)
    for axis, (length, step) in enumerate(zip(size, stride, strict=True)):
        shape = [1] * axis + [length] + [1] * (len(size) - axis - 1)
        places = places + (torch.arange(length) * step).view(shape)
    return places.expand(tuple(size)).reshape(-1)


def _as_strided(
    self: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Tensor:
    """Read the view of a contiguous tensor element by element."""
    flat = self.reshape(-1).index_select(0, _places(size, stride, storage_offset or 0))
    return flat.view(tuple(size))


def _as_strided_scatter(
    self: Tensor,
    src: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int | None = None,
) -> Tensor:
    """Write through the view of a contiguous tensor element by element."""
    places = _places(size, stride, storage_offset or 0)
    return self.reshape(-1).scatter(0, places, src.reshape(-1)).view(self.shape)


def _diagonal(self: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    size, stride, start = _diagonal_of(self.shape, offset, dim1, dim2)
    return _as_strided(self, size, stride, start)


def _diagonal_scatter(
    self: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Tensor:
    size, stride, start = _diagonal_of(self.shape, offset, dim1, dim2)
    return _as_strided_scatter(self, src, size, stride, start)


def _diagonal_of(
    shape: Sequence[int], offset: int, dim1: int, dim2: int
) -> tuple[list[int], list[int], int]:
    """Size, stride and start of a diagonal of a contiguous tensor."""
    first, second = dim1 % len(shape), dim2 % len(shape)
    strides = [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
    down, right = max(0, -offset), max(0, offset)
    length = max(0, min(shape[first] - down, shape[second] - right))
    others = [axis for axis in range(len(shape)) if axis not in (first, second)]
    size = [*(shape[axis] for axis in others), length]
    stride = [*(strides[axis] for axis in others), strides[first] + strides[second]]
    return size, stride, down * strides[first] + right * strides[second]
