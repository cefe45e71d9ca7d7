"""What a model is rewritten for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Page:
    """A state that is no variable but a parameter, whose memory attention updates in place.

    Attributes:
        state: the state's name.
        parameter: the OpenVINO parameter ``[blocks, heads, rows of a block, head size]``.
        shape: the state's shape, ``[1, heads, rows, head size]``.
    """

    state: str
    parameter: Any
    shape: tuple[int, ...]


@dataclass
class Target:
    """How the model will be compiled, and what passes leave for its sessions.

    Attributes:
        hint: OpenVINO's inference precision: ``f32``, ``f16`` or ``bf16``.
        exact: whether this is the reference mode, in which nothing may change a rounding.
        one_thread: whether it will have one thread, in 16 bits.
        pages: states that passes made parameters.
    """

    hint: str
    exact: bool
    one_thread: bool = False
    pages: list[Page] = field(default_factory=list)
