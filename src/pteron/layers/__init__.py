"""Where a program's values part from PyTorch's: the model is lowered again, and both are run."""

from __future__ import annotations

from pteron.layers.compare import Divergence
from pteron.layers.search import first_divergence

__all__ = ["Divergence", "first_divergence"]
