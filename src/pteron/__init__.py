"""pteron opens, edits, lowers, caches and runs ExecuTorch programs on any machine."""

from __future__ import annotations

from pteron.errors import PteronError

__version__ = "0.1.0"
__all__ = ["PteronError", "__version__"]
