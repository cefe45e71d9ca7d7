"""Modules that turn values by their positions, lowered by pteron and run by OpenVINO."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import pteron
from pteron.engines.openvino import device
from pteron.engines.openvino._import import ov
from pteron.engines.openvino.build import build
from pteron.engines.openvino.passes import Target, rewrite
from pteron.payloads import open_payload
from pteron.payloads.coreml.package import CoreMLPackage
from pteron.payloads.sources import FilesSource
from tests.engines.passes.rewritten import running_types

KERNEL = "RoPE"
WIDTH = 16
HALF = WIDTH // 2
TOLERANCE = {"f32": 3e-3, "f16": 6e-3, "bf16": 5e-2}
"""By precision, of results up to 4, with inputs in fp16."""

needs_kernel = pytest.mark.skipif(
    "avx2" not in device.features()["flags"], reason="OpenVINO has the kernel for AVX2 and later"
)


class Rotated(nn.Module):
    """``how`` computes from an x, a cosine and a sine."""

    def __init__(self, how: Callable[[Tensor, Tensor, Tensor], Tensor]) -> None:
        super().__init__()
        self.how = how

    def forward(self, x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
        return self.how(x, cosine, sine)


def by_slices(x: Tensor) -> Tensor:
    """``concat(-x2, x1)`` as GPT-NeoX has it, and Llama."""
    return torch.cat((-x[..., HALF:], x[..., :HALF]), dim=-1)


def random(*shapes: Sequence[int]) -> tuple[Tensor, ...]:
    generator = torch.Generator().manual_seed(0)
    return tuple(torch.rand(*shape, generator=generator) * 2 - 1 for shape in shapes)


def lowered(module: nn.Module, inputs: Sequence[Tensor], dynamic_shapes: Any = None) -> FilesSource:
    """What the only delegate of the lowered module holds."""
    module = module.eval().requires_grad_(False)
    (delegate,) = pteron.lower(module, inputs, dynamic_shapes=dynamic_shapes).delegates
    source = open_payload(delegate.backend_id, delegate.payload, {}, delegate.method)
    assert isinstance(source, FilesSource)
    return source


def rewritten(source: FilesSource, hint: str, exact: bool = False) -> tuple[dict[str, int], Any]:
    """How often each pass was applied, and the model."""
    model = build(CoreMLPackage(source), "main").model
    return rewrite(model, Target(hint, exact)), model


def run(model: Any, hint: str, *calls: Sequence[Tensor]) -> tuple[list[str], list[np.ndarray]]:
    """Types of the nodes that run, and the first output of each call."""
    compiled = ov.Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": hint})
    request, results = compiled.create_infer_request(), []
    for inputs in calls:
        request.infer([x.numpy() for x in inputs])
        results.append(request.get_output_tensor(0).data.copy())
    return running_types(compiled), results
