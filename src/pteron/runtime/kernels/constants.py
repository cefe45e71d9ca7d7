"""Keeps kernels from writing to constants, which lie in memory that is mapped for reading."""

from __future__ import annotations

from typing import Any

import numpy as np

from pteron.errors import EngineError


def refuse_constant(value: Any, operator: str) -> None:
    """Raise EngineError if ``value``, which ``operator`` is about to write to, is a constant."""
    if isinstance(value, np.ndarray) and not value.flags.writeable:
        raise EngineError(f"{operator}: the program writes to a constant", op=operator)
