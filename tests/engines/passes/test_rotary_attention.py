"""Attention to a cache whose queries and keys are turned by their positions."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch
from torch import Tensor

from pteron.engines.base import CompiledModel, EngineOptions, Profiled
from pteron.engines.openvino.passes.paged_attention import available
from tests.engines.converted import ENGINE
from tests.engines.passes.flexible import ROWS, SIZE, FlexibleAttention, call, lowered, source
from tests.engines.passes.rotated import KERNEL, needs_kernel

pytestmark = [
    needs_kernel,
    pytest.mark.skipif(not available(), reason="another OpenVINO, or processor"),
]

CALLS = [(5, 0), (1, 5), (1, 6), (33, 7), (ROWS - 1, 1), (1, 0)]
"""Numbers of tokens, and positions of the first."""
MODES = {"model": 5e-3, "fast": 5e-2, "f32": 5e-3}
"""Precisions, and how far results may be from eager PyTorch's."""


class Turned(FlexibleAttention):
    """``tokens_first``: turned as ``[1, n, heads, SIZE]``."""

    def __init__(self, form: str, tokens_first: bool) -> None:
        super().__init__(form)
        self.tokens_first = tokens_first
        exponents = torch.arange(0, SIZE, 2).repeat(2) / SIZE
        angles = torch.outer(torch.arange(ROWS), 100.0**-exponents)
        self.register_buffer("angles", torch.stack([angles.cos(), angles.sin()]), persistent=False)

    def placed(self, rows: Tensor, position: Tensor) -> Tensor:
        cosine, sine = self.angles[:, position + torch.arange(rows.shape[2])]
        if not self.tokens_first:
            return self.turned(rows, cosine, sine)
        turned = self.turned(rows.transpose(1, 2), cosine.unsqueeze(1), sine.unsqueeze(1))
        return turned.transpose(1, 2)

    def turned(self, x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
        first, second = x.chunk(2, dim=-1)
        return x * cosine + torch.cat((-second, first), dim=-1) * sine


def rewrites(model: CompiledModel) -> tuple[int, int]:
    found = model.compilations["main"].rewrites
    return found.get("rotary", 0), found.get("state_attention", 0)


@pytest.mark.parametrize(
    ("form", "tokens_first"),
    [("plain", False), ("grouped", True), pytest.param("repeated", True, marks=pytest.mark.slow)],
)
def test_any_number_of_tokens_agrees_with_eager(form: str, tokens_first: bool) -> None:
    module = Turned(form, tokens_first).eval().requires_grad_(False)
    payload = source(lowered(module))
    models = [ENGINE.compile_in_memory(payload, EngineOptions(m, profile=True)) for m in MODES]
    assert [rewrites(model) for model in models] == [(2, 1), (2, 1), (0, 0)]
    sessions = [model.new_session() for model in models]
    module = copy.deepcopy(module)
    for inputs in (call(*at) for at in CALLS):
        with torch.no_grad():
            wanted = module(*map(torch.from_numpy, inputs)).numpy()
        for session, tolerance in zip(sessions, MODES.values(), strict=True):
            np.testing.assert_allclose(session.run("main", inputs)[0], wanted, atol=tolerance)
    for session, number in zip(sessions, (2, 2, 0), strict=True):
        assert isinstance(session, Profiled)
        types = [op.type for op in session.op_times("main")]
        assert types.count(KERNEL) == number
