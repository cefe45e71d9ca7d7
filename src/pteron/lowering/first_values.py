"""A buffer's first value, in few words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor


def in_words(tensor: Tensor) -> str:
    """Such as ``zero``, ``0.75 everywhere``, ``from -1 to 3``, ``empty`` or ``NaN in it``."""
    if not tensor.numel():
        return "empty"
    if tensor.is_complex():
        return "complex" if tensor.any() else "zero"
    least, most = tensor.min().item(), tensor.max().item()
    if least != least:
        return "NaN in it"
    if least != most:
        return f"from {_short(least)} to {_short(most)}"
    return "zero" if least == 0 else f"{_short(least)} everywhere"


def _short(value: float | bool) -> str:
    return str(value) if isinstance(value, (bool, int)) else f"{value:.6g}"
