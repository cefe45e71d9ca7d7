"""Greedy decoding, whatever computes the logits: a lowered program or PyTorch eager."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from examples.smollm2.model import SmolLM2
from pteron.runtime import Module

Logits = NDArray[Any]
Step = Callable[[Sequence[int], int], Logits]
"""Takes tokens and the position of the first; gives the logits ``[vocabulary]`` after the last."""


def with_program(module: Module) -> Step:
    """Steps of the lowered program."""

    def step(tokens: Sequence[int], position: int) -> Logits:
        (logits,) = module.forward(np.array([tokens]), np.array([position]))
        return logits[0]

    return step


def with_eager(model: SmolLM2) -> Step:
    """Steps of the module itself."""

    def step(tokens: Sequence[int], position: int) -> Logits:
        with torch.no_grad():
            return model(torch.tensor([tokens]), torch.tensor([position]))[0].numpy()

    return step


def greedy(
    step: Step, logits: Logits, position: int, count: int, end: int | None = None
) -> Iterator[tuple[int, Logits]]:
    """Up to ``count`` tokens, each with the logits that it is the largest of.

    ``logits`` are those before ``position``. Stops before the token ``end``.
    """
    for offset in range(count):
        token = int(logits.argmax())
        if token == end:
            return
        yield token, logits
        if offset < count - 1:
            logits = step([token], position + offset)
