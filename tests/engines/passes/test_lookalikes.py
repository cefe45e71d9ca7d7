"""Attention over states that paged attention would get wrong is left as it is written."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
import torch

import pteron
from pteron.engines.openvino.passes.paged_attention import available
from pteron.payloads import open_payload
from tests.engines.passes.test_state_attention import ROWS, Attention, compiled, rewrites, steps

pytestmark = pytest.mark.skipif(not available(), reason="another OpenVINO, or processor")


class Seen(Attention):
    """Which rows are seen, or how well the others are hidden, is not what it should be."""

    def visible(self, position: torch.Tensor) -> torch.Tensor:
        rows = torch.arange(ROWS)
        masks = {
            "a row more": lambda: rows <= position + 1,
            "the last positions differ": lambda: rows <= position.clamp(max=ROWS - 3),
            "hidden in part": lambda: torch.zeros(ROWS).masked_fill(rows > position, -1.0),
            "near rows preferred": lambda: torch.where(
                rows > position, -1e4, -0.1 * (position - rows)
            ),
        }
        return masks[self.mask]().view(1, 1, 1, ROWS)


class Written(Attention):
    """Rows are not written where the newest query looks."""

    def written(self, position: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        places = {
            "keys a row later": ((position + 1) % ROWS, position),
            "values a row later": (position, (position + 1) % ROWS),
            "from the end": (ROWS - 1 - position, ROWS - 1 - position),
        }
        return places[self.mask]


def slow(kind: type[Attention], how: str) -> Any:
    return pytest.param(kind, how, marks=pytest.mark.slow)


CASES = [
    (Seen, "the last positions differ"),
    (Seen, "hidden in part"),
    (Written, "values a row later"),
    slow(Seen, "a row more"),
    slow(Seen, "near rows preferred"),
    slow(Written, "keys a row later"),
    slow(Written, "from the end"),
]


@pytest.mark.parametrize(("kind", "how"), CASES)
def test_it_runs_as_it_is_written(kind: type[Attention], how: str) -> None:
    module = kind("repeated", mask=how).eval().requires_grad_(False)
    width = module.heads * module.size
    inputs = (torch.zeros(1, 1, width), torch.zeros(1, dtype=torch.int64))
    (delegate,) = pteron.lower(copy.deepcopy(module), inputs).delegates
    model = compiled(open_payload(delegate.backend_id, delegate.payload, {}, delegate.method))
    assert rewrites(model) == 0
    session = model.new_session()
    for (x, _), at in zip(steps(width, 4), (0, 1, ROWS - 2, ROWS - 1), strict=True):
        position = np.array([at], np.int32)
        with torch.no_grad():
            wanted = module(torch.from_numpy(x), torch.from_numpy(position)).numpy()
        np.testing.assert_allclose(session.run("main", [x, position])[0], wanted, atol=5e-3)
