"""The small real files that the format pages take apart, made anew by every build."""

from __future__ import annotations

from functools import cache

import numpy as np
import torch
from torch import Tensor, nn

import pteron
from examples.counter import build


@cache
def program() -> bytes:
    """PTE: what ``pteron lower examples/counter.py:build`` writes."""
    model, inputs = build()
    return pteron.lower(model, inputs).to_bytes()


@cache
def bundle() -> bytes:
    """BPTE: that program with one test case."""
    arrays = {"x": np.ones((1, 4), np.float32)}
    cases = pteron.edit.cases_from_arrays(arrays, "forward")
    return pteron.edit.bundle(pteron.open(program()), cases).to_bytes()


class Scale(nn.Module):
    """A weight of its own, which the program alone stores."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("weight", torch.arange(4, dtype=torch.float32))

    def forward(self, x: Tensor) -> Tensor:
        return x * self.weight


@cache
def data() -> bytes:
    """PTD: the constant of a small portable program, moved out of it."""
    lowered = pteron.lower(Scale().eval(), (torch.ones(4),), backend=None)
    _, moved = pteron.edit.externalise(lowered)
    return moved.to_bytes()


@cache
def payload() -> bytes:
    """The Core ML payload of the counter program."""
    return bytes(pteron.open(program()).delegates[0].payload)


@cache
def weights() -> bytes:
    """``weight.bin`` in the payload of a linear layer, 16 by 16."""
    torch.manual_seed(0)
    model = nn.Linear(16, 16, bias=False).eval()
    delegate = pteron.lower(model, (torch.ones(1, 16),)).delegates[0]
    source = pteron.payloads.open_payload(delegate.backend_id, delegate.payload)
    (path,) = [path for path in source.paths() if path.endswith("weight.bin")]
    return bytes(source.read(path))
