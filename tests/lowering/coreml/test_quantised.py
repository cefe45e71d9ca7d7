"""Models whose weights come quantised: they stay so in the payload, and the numbers are eager's."""

from __future__ import annotations

import copy

import pytest
import torch
import torch.ao.quantization.fx._decomposed  # registers quantized_decomposed
from torch import Tensor, nn
from torchao.quantization import Int8WeightOnlyConfig, IntxWeightOnlyConfig, quantize_
from torchao.quantization.granularity import PerAxis, PerGroup

import pteron
from pteron.errors import LoweringError
from pteron.lowering import CoreML, lower

from ..reference import ExecuTorchProgram
from . import packages

TOKENS = torch.arange(5).reshape(1, 5)
PT2E = torch.ops.quantized_decomposed


class Recurrent(nn.Module):
    """Two layers behind a state."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(64, 64)
        self.wide = nn.Linear(64, 128)
        self.narrow = nn.Linear(128, 64, bias=False)
        self.register_buffer("total", torch.zeros(1, 5, 64))

    def forward(self, tokens: Tensor) -> Tensor:
        self.total.add_(self.embed(tokens).half().float())
        return self.narrow(self.wide(self.total).relu())


def quantised(config: object, kinds: tuple[type[nn.Module], ...]) -> Recurrent:
    torch.manual_seed(0)
    model = Recurrent().eval()
    quantize_(model, config, lambda module, _: isinstance(module, kinds))
    return model


INT4 = IntxWeightOnlyConfig(weight_dtype=torch.int4, granularity=PerGroup(32))
INT8 = IntxWeightOnlyConfig(weight_dtype=torch.int8, granularity=PerAxis(0))
INT3 = IntxWeightOnlyConfig(weight_dtype=torch.int3, granularity=PerAxis(0))
LAYERS = (nn.Linear,)
CASES = [
    pytest.param(INT4, LAYERS, "iOS18", "int4", id="int4-groups"),
    pytest.param(Int8WeightOnlyConfig(), LAYERS, "iOS18", "int8", marks=pytest.mark.slow),
    pytest.param(INT8, (*LAYERS, nn.Embedding), "iOS17", "int8", marks=pytest.mark.slow),
    pytest.param(INT3, LAYERS, "iOS18", "int4", marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("config", "kinds", "target", "stored_as"), CASES)
def test_weights_of_torchao(config, kinds, target, stored_as, tmp_path):
    model = quantised(config, kinds)
    backend = CoreML(target, compute_precision="float32")
    file = lower(copy.deepcopy(model), (TOKENS,), backend=backend, whole_graph=True)
    (summary,) = file.lowering_report.delegates
    stored = {record.name: record.stored_as for record in summary.weights}
    assert stored["wide.weight"] == stored["narrow.weight"] == stored_as
    assert stored["embed.weight"] == (stored_as if nn.Embedding in kinds else "float32")
    packages.program(packages.unpack(file, tmp_path))
    module = pteron.load(file, cache=None)
    for _ in range(2):
        (got,) = module.forward(TOKENS.numpy())
        with torch.no_grad():
            torch.testing.assert_close(torch.as_tensor(got), model(TOKENS), rtol=1e-3, atol=1e-3)


@pytest.mark.slow
def test_in_fp16_layers_use_what_is_expanded_to_fp16(tmp_path):
    file = lower(quantised(INT4, LAYERS), (TOKENS,))
    made = packages.operations(packages.unpack(file, tmp_path))
    weights = [o.weight.op for o in made if o.op_type == "linear"]
    assert [o.op_type for o in weights] == ["constexpr_blockwise_shift_scale"] * 2
    assert {o.outputs[0].dtype.__name__ for o in weights} == {"fp16"}


def test_without_a_backend_executorch_runs_it():
    model = quantised(INT4, LAYERS)
    file = lower(copy.deepcopy(model), (TOKENS,), backend=None)
    (got,) = ExecuTorchProgram(file).run(TOKENS)
    with torch.no_grad():
        torch.testing.assert_close(got, model(TOKENS), rtol=1e-5, atol=1e-5)


class Exported(nn.Module):
    """What PT2E makes of a convolution and a linear layer: rounded activations and weights."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("kernel", torch.randint(-127, 127, (16, 3, 3, 3), dtype=torch.int8))
        self.register_buffer("scales", torch.rand(16) / 500)
        self.register_buffer("zeros", torch.zeros(16, dtype=torch.int64))
        self.register_buffer("matrix", torch.randint(-8, 7, (8, 64), dtype=torch.int8))
        self.register_buffer("steps", torch.rand(8, 2) / 50)
        self.register_buffer("offsets", torch.randint(-3, 3, (8, 2), dtype=torch.int8))

    def forward(self, x: Tensor) -> Tensor:
        x = PT2E.quantize_per_tensor(x, 0.02, 3, -128, 127, torch.int8)
        x = PT2E.dequantize_per_tensor(x, 0.02, 3, -128, 127, torch.int8)
        kernel = PT2E.dequantize_per_channel(
            self.kernel, self.scales, self.zeros, 0, -127, 127, torch.int8
        )
        x = nn.functional.conv2d(x, kernel, padding=1).mean((1, 2)).repeat(1, 8)
        matrix = PT2E.dequantize_per_channel_group(
            self.matrix, self.steps, self.offsets, -8, 7, torch.int8, 32, torch.float32
        )
        return nn.functional.linear(x, matrix)


@pytest.mark.parametrize("backend", [CoreML(compute_precision="float32"), None])
def test_a_graph_of_pt2e(backend, tmp_path):
    torch.manual_seed(0)
    model, x = Exported(), torch.randn(1, 3, 8, 8)
    file = lower(model, (x,), backend=backend)
    if backend is not None:
        kinds = {o.op_type for o in packages.operations(packages.unpack(file, tmp_path))}
        assert {"quantize", "dequantize", "constexpr_blockwise_shift_scale"} <= kinds
        (summary,) = file.lowering_report.delegates
        stored = {record.name: record.stored_as for record in summary.weights}
        assert (stored["kernel"], stored["matrix"]) == ("int8", "int4")
        (got,) = pteron.load(file, cache=None).forward(x.numpy())
    else:
        (got,) = ExecuTorchProgram(file).run(x)
    torch.testing.assert_close(torch.as_tensor(got), model(x), rtol=1e-4, atol=1e-4)


def test_scales_computed_at_every_call_are_an_error():
    class Dynamic(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            scale, zero = PT2E.choose_qparams.tensor(x, -128, 127, 1e-5, torch.int8)
            x = PT2E.quantize_per_tensor.tensor(x, scale, zero, -128, 127, torch.int8)
            return PT2E.dequantize_per_tensor.tensor(x, scale, zero, -128, 127, torch.int8)

    with pytest.raises(LoweringError, match=r"choose_qparams.*computed at every call"):
        lower(Dynamic(), (torch.randn(2, 4),))
