"""Linear layers of one x as one product: the same numbers, whoever reads them."""

from __future__ import annotations

import copy
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import pteron
from pteron.bench import Options, benchmark
from pteron.engines.base import CompiledModel, EngineOptions
from pteron.engines.openvino import passes, precision
from pteron.engines.openvino.passes.paged_attention import available
from tests.engines.converted import ENGINE
from tests.engines.passes import flexible
from tests.engines.passes.test_state_attention import ROWS, STATES, Attention, steps

SIZE, WIDTH = 16, 64
NAMES = "qkv"
CASES = [("", (1, 1)), ("qkv", (1, 24)), ("qv", (3, 2))]
"""Layers with a bias (none, as in Llama; all, as in Qwen 2; those of Whisper), and rows of x."""


class Projections(nn.Module):
    """Attention of 4 heads to 2 shared ones, with biases where ``biased`` says."""

    def __init__(self, biased: str = "") -> None:
        super().__init__()
        torch.manual_seed(0)
        for name, heads in zip(NAMES, (4, 2, 2), strict=True):
            self.add_module(name, nn.Linear(WIDTH, heads * SIZE, bias=name in biased))

    def forward(self, x: Tensor) -> Tensor:
        layers = (self.get_submodule(name) for name in NAMES)
        q, k, v = (layer(x).unflatten(2, (-1, SIZE)).transpose(1, 2) for layer in layers)
        k, v = (rows.repeat_interleave(2, 1) for rows in (k, v))
        return nn.functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)


@cache
def projections(biased: str, *shape: int) -> tuple[nn.Module, pteron.PTEFile]:
    module = Projections(biased).eval().requires_grad_(False)
    return module, pteron.lower(copy.deepcopy(module), (torch.zeros(*shape, WIDTH),))


def values(*shape: int) -> np.ndarray:
    return np.random.default_rng(5).standard_normal((*shape, WIDTH)).astype(np.float32)


@pytest.fixture(params=["model", "model in f16", "fast"])
def options(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> EngineOptions:
    """Precisions with rewrites; programs as small as these run in fp32 by themselves."""
    if request.param == "model in f16":
        monkeypatch.setattr(precision, "_SMALL", 0)
    return EngineOptions(request.param.split()[0])


def compiled(file: pteron.PTEFile, options: EngineOptions) -> CompiledModel:
    return ENGINE.compile_in_memory(flexible.source(file), options)


def apart(file: pteron.PTEFile, options: EngineOptions) -> CompiledModel:
    """Compiled with all passes but one."""
    others = {name: do for name, do in passes.PASSES.items() if name != "joint_products"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passes, "PASSES", others)
        model = compiled(file, options)
    assert joined(model) == 0
    return model


def joined(model: CompiledModel) -> int:
    return model.compilations["main"].rewrites.get("joint_products", 0)


@pytest.mark.parametrize(("biased", "shape"), CASES)
def test_results_agree_with_eager_and_with_layers_apart(
    biased: str, shape: tuple[int, int], options: EngineOptions
) -> None:
    module, file = projections(biased, *shape)
    model, x = compiled(file, options), values(*shape)
    assert joined(model) == 1
    (got,) = model.new_session().run("main", [x])
    (other,) = apart(file, options).new_session().run("main", [x])
    tolerance = 2e-2 if options.precision == "fast" else 2e-3
    np.testing.assert_allclose(got, other, atol=tolerance / 2)
    np.testing.assert_allclose(got, module(torch.from_numpy(x)), atol=tolerance)


def test_the_reference_mode_keeps_layers_apart() -> None:
    assert joined(compiled(projections("", 1, 1)[1], EngineOptions("f32"))) == 0


def test_bench_counts_it(tmp_path: Path) -> None:
    path = tmp_path / "model.pte"
    projections("", 1, 1)[1].save(path)
    result, _ = benchmark(path, Options(warmup=0, repeat=1))
    assert result.rewrites["joint_products"] == 1


class Both(nn.Module):
    """Keys and values of two layers, side by side."""

    def __init__(self, both: nn.Linear) -> None:
        super().__init__()
        inside, out = both.in_features, both.out_features // 2
        self.k, self.v = (nn.Linear(inside, out, bias=bias) for bias in (False, True))

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat([self.k(x), self.v(x)], -1)


@cache
def decoder(is_flexible: bool) -> tuple[nn.Module, pteron.PTEFile]:
    """Attention to a cache; with keys and values that the joint product writes into states."""
    module = flexible.FlexibleAttention("repeated") if is_flexible else Attention("repeated")
    module.kv = Both(module.kv)
    module = module.eval().requires_grad_(False)
    if is_flexible:
        return module, flexible.lowered(module)
    inputs = (torch.zeros(1, 1, WIDTH * 2), torch.zeros(1, dtype=torch.int64))
    return module, pteron.lower(copy.deepcopy(module), inputs)


@pytest.mark.skipif(not available(), reason="another OpenVINO, or processor")
@pytest.mark.parametrize("is_flexible", [False, True])
def test_states_are_written_alike(is_flexible: bool, options: EngineOptions) -> None:
    module, file = decoder(is_flexible)
    module = copy.deepcopy(module)
    models = compiled(file, options), apart(file, options)
    assert [joined(model) for model in models] == [1, 0]
    assert models[0].compilations["main"].rewrites["state_attention"] == 1
    sessions = [model.new_session() for model in models]
    tolerance = 5e-2 if options.precision == "fast" else 5e-3
    for inputs in calls(is_flexible):
        got, other = (session.run("main", inputs)[0] for session in sessions)
        np.testing.assert_allclose(got, other, atol=tolerance / 2)
        np.testing.assert_allclose(got, module(*map(torch.from_numpy, inputs)), atol=tolerance)
    for name in STATES:
        value = sessions[0].read_state(name)
        np.testing.assert_allclose(value, getattr(module, name), atol=tolerance)


def calls(is_flexible: bool) -> list[list[np.ndarray]]:
    if is_flexible:
        return [flexible.call(*at) for at in ((5, 0), (1, 5), (33, 6), (1, ROWS - 1))]
    return steps(WIDTH * 2)


@pytest.mark.parametrize("has_states", [False, True])
def test_files_left_by_compile_give_the_same_numbers(has_states: bool, tmp_path: Path) -> None:
    _, file = decoder(True) if has_states else projections("qv", 3, 2)
    source, options = flexible.source(file), EngineOptions()
    ENGINE.compile(source, options, tmp_path)
    models = ENGINE.load(source, options, tmp_path), compiled(file, options)
    assert [joined(model) for model in models] == [1, 1]
    sessions = [model.new_session() for model in models]
    for inputs in calls(True) if has_states else [[values(3, 2)]]:
        one, other = (session.run("main", inputs)[0] for session in sessions)
        np.testing.assert_array_equal(one, other)
