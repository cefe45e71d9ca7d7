"""ExecuTorch's operators that name a layout by dim order instead of a memory format.

The out tensor already has its dtype and layout, so each is a copy into it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch


def _copy_into(source: torch.Tensor, *rest: Any) -> torch.Tensor:
    """``(self, non_blocking, dim_order, out)``: values of ``self`` in the dtype of ``out``."""
    out: torch.Tensor = rest[2]
    if out.shape != source.shape:
        out.resize_(source.shape)
    return out.copy_(source)


def _empty(size: list[int], _dim_order: Any, out: torch.Tensor, *_return: Any) -> torch.Tensor:
    return out if list(out.shape) == list(size) else out.resize_(size)


DIM_ORDER: dict[str, Callable[..., Any]] = {
    "dim_order_ops::_to_dim_order_copy.out": _copy_into,
    "dim_order_ops::_clone_dim_order.out": _copy_into,
    "dim_order_ops::_empty_dim_order.out": _empty,
}
