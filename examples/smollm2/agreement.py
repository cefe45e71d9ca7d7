"""How a lowered program's greedy answer compares with PyTorch eager's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from examples.smollm2.generate import Logits

BOUND = 0.05
"""Largest difference of two logits that stand for the same token in the same place.

Logits of this model reach 30. Both sides compute in fp32 and round keys and values to fp16; sums in
another order make a key cross a rounding border now and then, and thirty layers carry that on.
Eager PyTorch itself differs by 0.013 from eager PyTorch that computes in fp64, within 8 tokens of
the demo's prompts; this is four times that.
"""


@dataclass(frozen=True)
class Agreement:
    """Two answers to one prompt.

    Attributes:
        tokens: how many tokens each has.
        same: how many of the first tokens are the same.
        largest_difference: of any two logits up to the first token that differs.
        gap: by how much the reference preferred its token where the answers part, else None.
    """

    tokens: int
    same: int
    largest_difference: float
    gap: float | None

    @property
    def holds(self) -> bool:
        """Whether the logits agree, and answers part only where two tokens are nearly tied."""
        tied = self.gap is None or self.gap <= 2 * BOUND
        return self.largest_difference <= BOUND and tied


def compare(
    answer: Sequence[tuple[int, Logits]], reference: Sequence[tuple[int, Logits]]
) -> Agreement:
    """Compare two answers of one length, token by token, up to where they part."""
    pairs = list(zip(answer, reference, strict=True))
    same = next((i for i, (a, b) in enumerate(pairs) if a[0] != b[0]), len(pairs))
    comparable = pairs[: same + 1]  # the logits where they part come from the same tokens
    difference = max(float(np.abs(a[1] - b[1]).max()) for a, b in comparable)
    gap = None if same == len(pairs) else _gap(reference[same][1])
    return Agreement(len(pairs), same, difference, gap)


def _gap(logits: Logits) -> float:
    second, first = np.sort(logits)[-2:]
    return float(first - second)


def tokens_of(answer: Iterable[tuple[int, Logits]]) -> list[int]:
    """The tokens of an answer."""
    return [token for token, _ in answer]
