"""PyTorch models -> ExecuTorch programs.

torch -> functional graph -> state plan -> regions -> payloads -> memory plan -> program file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pteron.lowering.options import CoreML

if TYPE_CHECKING:
    from pteron.lowering.pipeline import lower

__all__ = ["CoreML", "lower"]


def __getattr__(name: str) -> Any:
    if name == "lower":
        from pteron.lowering.pipeline import lower

        return lower
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
