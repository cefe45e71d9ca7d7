"""Compressed weights: smaller payloads that compute what coremltools says their weights are."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import coremltools.optimize.coreml as cto
import numpy as np
import pytest
import torch
from torch import Tensor, nn

import pteron
from pteron.errors import LoweringError, UsageError
from pteron.files import PTEFile
from pteron.lowering import CoreML, lower

from . import packages


class Net(nn.Module):
    """An embedding, a convolution, two linear layers, a table of indices, and state."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(64, 64)
        self.conv = nn.Conv1d(64, 64, 3, padding=1)
        self.wide = nn.Linear(64, 128)
        self.narrow = nn.Linear(128, 10)
        self.register_buffer("table", torch.arange(4096).reshape(64, 64) % 61)
        self.register_buffer("total", torch.zeros(1, 64))

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.embed(self.table[tokens]).mean(2)
        x = self.conv(x.transpose(1, 2)).transpose(1, 2)
        self.total.add_(x.mean(1))
        return self.narrow(self.wide(x + self.total).relu())


LARGE = {"embed.weight": "embed", "conv.weight": "conv", "wide.weight": "wide"}
TOKENS = torch.arange(5).reshape(1, 5)


def net() -> Net:
    torch.manual_seed(0)
    return Net().eval()


def lowered(weights: object, target: str = "iOS18") -> PTEFile:
    backend = CoreML(target, compute_precision="float32", weights=weights)
    return lower(net(), (TOKENS,), backend=backend)


def with_weights_of(model: Net, package: Path) -> Net:
    """The model with the weights that coremltools reads from a payload."""
    read = packages.dense_weights(package)
    with torch.no_grad():
        for name, layer in LARGE.items():
            (values,) = (v for k, v in read.items() if layer in k)
            model.get_parameter(name).copy_(torch.from_numpy(np.array(values, np.float32)))
    return model


FORMATS = [
    pytest.param("int8", "int8", 0.40, 0.02, marks=pytest.mark.slow),
    pytest.param("int4", "int4", 0.30, 0.15, id="int4"),
    pytest.param("palette4", "palette of 16", 0.30, 0.15, id="palette4"),
    pytest.param("int8-tensor", "int8", 0.40, 0.02, marks=pytest.mark.slow),
    pytest.param("int8-block16", "int8", 0.45, 0.01, marks=pytest.mark.slow),
    pytest.param("int4-channel", "int4", 0.30, 0.15, marks=pytest.mark.slow),
    pytest.param("palette2", "palette of 4", 0.25, 0.5, marks=pytest.mark.slow),
    pytest.param("palette3", "palette of 8", 0.25, 0.3, marks=pytest.mark.slow),
    pytest.param("palette6-group32", "palette of 64", 0.40, 0.05, marks=pytest.mark.slow),
]


@pytest.mark.parametrize(("name", "stored_as", "share", "error"), FORMATS)
def test_a_short_name(name, stored_as, share, error, tmp_path):
    file, plain = lowered(name), lowered(None)
    assert len(file.delegates[0].payload) < share * len(plain.delegates[0].payload) + 16_000
    (summary,) = file.lowering_report.delegates
    by_name = {record.name: record for record in summary.weights}
    for weight in LARGE:
        assert by_name[weight].stored_as == stored_as
        assert by_name[weight].stored_bytes < share * by_name[weight].bytes
    assert "2048 elements" in by_name["narrow.weight"].reason
    assert by_name["wide.bias"].reason == "it has a single axis"
    assert "table" not in by_name
    eager = with_weights_of(net(), packages.unpack(file, tmp_path))
    for weight in LARGE:
        given, kept = net().get_parameter(weight), eager.get_parameter(weight)
        assert (given - kept).std() <= error * given.std()
    module = pteron.load(file, cache=None)
    assert module.state["total"].owner == "delegate"
    for _ in range(2):
        (got,) = module.forward(TOKENS.numpy())
        with torch.no_grad():
            torch.testing.assert_close(torch.as_tensor(got), eager(TOKENS), rtol=2e-3, atol=2e-3)


@pytest.mark.slow
def test_a_configuration_of_coremltools(tmp_path):
    config = cto.OptimizationConfig(
        global_config=cto.OpLinearQuantizerConfig(dtype="int8", weight_threshold=512),
        op_type_configs={"gather": None, "conv": cto.OpPalettizerConfig(nbits=2)},
    )
    before = copy.deepcopy(config)
    file = lowered(config)
    assert config == before
    (summary,) = file.lowering_report.delegates
    stored = {record.name: record.stored_as for record in summary.weights}
    assert stored["wide.weight"] == stored["narrow.weight"] == "int8"
    assert stored["conv.weight"] == "palette of 4"
    reasons = {record.name: record.reason for record in summary.weights}
    assert reasons["embed.weight"] == "the configuration leaves it out"
    kinds = {o.op_type for o in packages.operations(packages.unpack(file, tmp_path))}
    assert {"constexpr_blockwise_shift_scale", "constexpr_lut_to_dense"} <= kinds


def test_what_does_not_divide_into_blocks_stays_and_is_named():
    model = nn.Sequential(nn.Linear(50, 64), nn.ReLU(), nn.Linear(64, 50))
    backend = CoreML(weights="int4")
    report = lower(model, (torch.ones(1, 50),), backend=backend).lowering_report
    reasons = {record.name: record.reason for record in report.delegates[0].weights}
    assert reasons["0.weight"] == "its channels do not divide into blocks or groups of 32"
    assert not reasons["2.weight"]
    assert "weights: 1 of 4 compressed (int4), " in str(report)
    assert "0.weight: its channels do not divide" in str(report)
    (listed,) = json.loads(report.to_json())["delegates"]
    assert {weight["stored_as"] for weight in listed["weights"]} == {"int4", "float16"}


@pytest.mark.slow
def test_before_ios_18_with_the_operations_of_then(tmp_path):
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU())
    file = lower(model, (torch.ones(1, 64),), backend=CoreML("iOS16", weights="int8"))
    package = packages.unpack(file, tmp_path)
    assert "constexpr_affine_dequantize" in {o.op_type for o in packages.operations(package)}
    (got,) = pteron.load(file, cache=None).forward(np.ones((1, 64), np.float32))
    with torch.no_grad():
        want = model(torch.ones(1, 64))
    torch.testing.assert_close(torch.as_tensor(got), want, rtol=0.05, atol=0.05)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"weights": "int3"}, "weights='int3': must be one of int8, int4"),
        ({"weights": "int8-group8"}, "weights='int8-group8': must be one of"),
        ({"weights": "palette4-block8"}, "must be one of"),
        ({"weights": "int8-channel8"}, "must be one of"),
        ({"weights": 4}, "must be an OptimizationConfig"),
        ({"weights": "int4", "minimum_deployment_target": "iOS17"}, "needs iOS18"),
        ({"weights": "palette4-group8", "minimum_deployment_target": "iOS16"}, "needs iOS18"),
        ({"weights": "int8", "minimum_deployment_target": "iOS15"}, "needs iOS16"),
    ],
)
def test_what_no_payload_can_hold_is_refused(arguments, said):
    with pytest.raises(UsageError, match=said):
        CoreML(**arguments)


@pytest.mark.slow
def test_operations_that_disagree_about_one_weight_are_an_error():
    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embed = nn.Embedding(64, 64)

        def forward(self, tokens: Tensor) -> Tensor:
            return nn.functional.linear(self.embed(tokens), self.embed.weight)

    config = cto.OptimizationConfig(cto.OpLinearQuantizerConfig(), op_type_configs={"gather": None})
    with pytest.raises(LoweringError, match=r"cannot compress the weights.*conflict"):
        lower(Tied(), (TOKENS,), backend=CoreML(weights=config))
    report = lower(Tied(), (TOKENS,), backend=CoreML(weights="int8")).lowering_report
    stored = {record.name: record.stored_as for record in report.delegates[0].weights}
    assert stored["embed.weight"] == "int8"
