"""ExecuTorch's primitive operators: arithmetic on symbolic sizes, and views.

Names as in ``executorch.runtime.Runtime.get().operator_registry``.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import torch


def _et_view(source: torch.Tensor, size: list[int], _out: Any) -> torch.Tensor:
    """The same elements under another shape (``-1`` once for the rest)."""
    return source.view(size)


def _binary(function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    return lambda a, b, *_out: function(a, b)


def _unary(function: Callable[[Any], Any]) -> Callable[..., Any]:
    return lambda a, *_out: function(a)


def _if_then_else(condition: Any, yes: Any, no: Any, *_out: Any) -> Any:
    return yes if condition else no


_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add.Scalar": operator.add,
    "sub.Scalar": operator.sub,
    "mul.Scalar": operator.mul,
    "floordiv.Scalar": operator.floordiv,
    "floordiv.int": operator.floordiv,
    "truediv.Scalar": operator.truediv,
    "mod.Scalar": operator.mod,
    "mod.int": operator.mod,
    "eq.Scalar": operator.eq,
    "gt.Scalar": operator.gt,
    "lt.Scalar": operator.lt,
    "ge.Scalar": operator.ge,
    "le.Scalar": operator.le,
    "sym_max.Scalar": max,
    "sym_min.Scalar": min,
}
_UNARY: dict[str, Callable[[Any], Any]] = {
    "neg.Scalar": operator.neg,
    "ceil.Scalar": math.ceil,
    "round.Scalar": round,
    "trunc.Scalar": math.trunc,
    "sym_float.Scalar": float,
    "sym_int.Scalar": int,
    "sym_not.Scalar": operator.not_,
}

PRIM: dict[str, Callable[..., Any]] = {
    "executorch_prim::et_view.default": _et_view,
    "executorch_prim::sym_ite.Scalar": _if_then_else,
    **{f"executorch_prim::{name}": _binary(function) for name, function in _BINARY.items()},
    **{f"executorch_prim::{name}": _unary(function) for name, function in _UNARY.items()},
}
