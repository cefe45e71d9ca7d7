"""Attention that is causal for some numbers of tokens, or positions, and not for others."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from pteron.engines.openvino.passes.paged_attention import available
from tests.engines.passes.flexible import ROWS, FlexibleAttention, call, lowered
from tests.engines.passes.test_flexible_tokens import compiled, eager, rewrites

pytestmark = pytest.mark.skipif(not available(), reason="another OpenVINO, or processor")


class Lookalike(FlexibleAttention):
    """Its mask is the causal one for a single token at least."""

    def visible(self, position: Tensor, n: int) -> Tensor:
        rows, indices = torch.arange(ROWS), torch.arange(n)
        at = (position + indices).view(-1, 1)
        masks = {
            "a row more for many tokens": lambda: rows <= at + torch.clamp(indices[-1:] - 6, 0, 1),
            "all tokens see the last": lambda: (rows <= position + n - 1).view(1, -1).expand(n, -1),
            "later tokens see the first only": lambda: rows <= position + 0 * indices.view(-1, 1),
            "twice as far": lambda: rows <= (position + 2 * indices).view(-1, 1),
            "in another order": lambda: rows <= at.flip(0),
            "the newest rows only": lambda: (rows <= at) & (rows > at - 30),
        }
        return masks[self.mask]()


def slow(how: str) -> Any:
    return pytest.param(how, marks=pytest.mark.slow)


CASES = [
    "a row more for many tokens",
    slow("all tokens see the last"),
    slow("later tokens see the first only"),
    slow("twice as far"),
    slow("in another order"),
    slow("the newest rows only"),
]


@pytest.mark.parametrize("how", CASES)
def test_it_runs_as_it_is_written(how: str) -> None:
    module = Lookalike("plain", how).eval().requires_grad_(False)
    model = compiled(lowered(copy.deepcopy(module)))
    assert rewrites(model) == 0
    session = model.new_session()
    for inputs in (call(*at) for at in [(1, 0), (9, 1), (2, 10), (1, ROWS - 1)]):
        (got,) = session.run("main", inputs)
        np.testing.assert_allclose(got, eager(module, inputs), atol=5e-3)
