"""The smallest model with state: it adds what comes in to a running total."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Counter(nn.Module):
    """Adds ``x[1, 4]`` to the buffer ``total`` and returns twice the new total."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(1, 4))

    def forward(self, x: Tensor) -> Tensor:
        self.total.add_(x)
        return self.total * 2


def build() -> tuple[Counter, tuple[Tensor]]:
    """The model and an example input, as ``pteron lower examples/counter.py:build``."""
    return Counter().eval(), (torch.ones(1, 4),)
