"""Running statistics of an instance norm, which its operator updates without saying so."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import pteron
from pteron.lowering import CoreML, lower


@pytest.mark.parametrize("backend", [CoreML(compute_precision="float32"), None])
def test_running_statistics_are_kept(backend):
    model = nn.InstanceNorm1d(3, affine=True, track_running_stats=True)
    x = torch.randn(2, 3, 8, generator=torch.Generator().manual_seed(0)) * 3 + 1
    module = pteron.load(lower(model, (x,), backend=backend), cache=None)
    for _ in range(3):
        (got,) = module.forward(x)
        torch.testing.assert_close(torch.as_tensor(got), model(x), rtol=1e-4, atol=1e-4)
    for name in ("running_mean", "running_var"):
        held = torch.as_tensor(module.state[name].read()).float()
        torch.testing.assert_close(held, model.get_buffer(name), rtol=4e-3, atol=4e-3)


def test_without_statistics_it_stays_one_operation():
    file = lower(nn.InstanceNorm1d(3), (torch.randn(2, 3, 8),))
    (delegate,) = file.lowering_report.delegates
    assert delegate.operations == 1
