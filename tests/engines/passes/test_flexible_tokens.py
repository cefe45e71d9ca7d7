"""Attention over states in place for any number of tokens per call."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch
from torch import nn

import pteron
from pteron.engines.base import CompiledModel, EngineOptions
from pteron.engines.openvino import precision
from pteron.engines.openvino.passes.paged_attention import available
from pteron.runtime import Module
from tests.engines.converted import ENGINE
from tests.engines.passes.flexible import (
    ROWS,
    STATES,
    WIDTH,
    FlexibleAttention,
    call,
    lowered,
    program,
    source,
)

pytestmark = pytest.mark.skipif(not available(), reason="another OpenVINO, or processor")

CALLS = [(5, 0), (1, 5), (1, 6), (33, 7), (2, 3), (ROWS - 1, 1), (1, ROWS - 1), (1, 0), (20, 20)]
"""Numbers of tokens, and positions of the first, in an order in which rows are overwritten."""
FORMS = [("plain", "compared"), ("grouped", "compared"), ("repeated", "added")]
SLOW = [
    ("repeated", "compared"),
    ("plain", "added"),
    ("repeated", "looked up"),
    ("plain", "cut out"),
]


def compiled(file: pteron.PTEFile, mode: str = "model") -> CompiledModel:
    return ENGINE.compile_in_memory(source(file), EngineOptions(mode))


def rewrites(model: CompiledModel) -> int:
    return model.compilations["main"].rewrites.get("state_attention", 0)


def eager(module: nn.Module, inputs: list[np.ndarray]) -> np.ndarray:
    with torch.no_grad():
        return module(*map(torch.from_numpy, inputs)).numpy()


@pytest.mark.parametrize(
    ("form", "mask"), [*FORMS, *(pytest.param(*case, marks=pytest.mark.slow) for case in SLOW)]
)
def test_every_call_agrees_with_eager_and_the_untouched_program(form: str, mask: str) -> None:
    module, file = program(form, mask)
    module = copy.deepcopy(module)
    models = [compiled(file, mode) for mode in ("model", "fast", "f32")]
    assert [rewrites(model) for model in models] == [1, 1, 0]
    assert models[0].compilations["main"].state_bytes_copied == 0
    sessions = [model.new_session() for model in models]
    for inputs in (call(*at) for at in CALLS):
        wanted = eager(module, inputs)
        found = [session.run("main", inputs)[0] for session in sessions]
        for value, tolerance in zip(found, (5e-3, 5e-2, 5e-3), strict=True):
            np.testing.assert_allclose(value, wanted, atol=tolerance)
        np.testing.assert_allclose(found[0], found[2], atol=2e-3)
    for name in STATES:
        for session, tolerance in zip(sessions, (5e-3, 5e-2, 5e-3), strict=True):
            kept = session.read_state(name)
            assert kept.dtype == np.float16
            np.testing.assert_allclose(kept, getattr(module, name), atol=tolerance)


def test_tokens_at_once_are_as_one_after_the_other() -> None:
    _, file = program("grouped")
    model = compiled(file)
    together, apart = model.new_session(), model.new_session()
    x, _ = call(7, 0)
    (whole,) = together.run("main", [x, np.array([30], np.int32)])
    steps = [
        apart.run("main", [x[:, i : i + 1], np.array([30 + i], np.int32)])[0] for i in range(7)
    ]
    np.testing.assert_allclose(whole, np.concatenate(steps, axis=1), atol=1e-4)
    for name in STATES:
        np.testing.assert_allclose(together.read_state(name), apart.read_state(name), atol=1e-3)


def test_files_left_by_compile_give_the_same_numbers(tmp_path) -> None:
    _, file = program("grouped")
    options = EngineOptions()
    ENGINE.compile(source(file), options, tmp_path)
    loaded, direct = ENGINE.load(source(file), options, tmp_path), compiled(file)
    sessions = loaded.new_session(), direct.new_session()
    for inputs in (call(*at) for at in CALLS[:4]):
        one, other = (session.run("main", inputs)[0] for session in sessions)
        np.testing.assert_array_equal(one, other)


def load(mode: str) -> Module:
    return pteron.load(program("grouped")[1], cache=None, precision=mode)


def run(module: Module, *calls: tuple[int, int]) -> list[np.ndarray]:
    given = (call(*at) for at in calls)
    return [module.forward(x, position.astype(np.int64))[0] for x, position in given]


def test_states_are_kept_restored_rolled_back_and_forked() -> None:
    module = load("model")
    run(module, (6, 0))
    kept = module.state.snapshot()
    fork = module.fork()
    wanted = run(module, (3, 6), (1, 9))
    module.state.rollback(6, STATES, axis=2)
    for name in STATES:
        np.testing.assert_array_equal(module.state[name].read(), kept.values[name])
    for again in (module, fork):
        again.state.restore(kept)
        for one, other in zip(run(again, (3, 6), (1, 9)), wanted, strict=True):
            np.testing.assert_array_equal(one, other)
    other = load("f32")
    other.state.restore(kept)
    for one, exact in zip(wanted, run(other, (3, 6), (1, 9)), strict=True):
        np.testing.assert_allclose(one, exact, atol=2e-3)


@pytest.mark.parametrize("fixed", [False, True])
def test_fp16_kernels_get_each_token_right(monkeypatch: pytest.MonkeyPatch, fixed: bool) -> None:
    """Which OpenVINO computes in fp16 only where weights are large."""
    monkeypatch.setattr(precision, "_SMALL", 0)
    module, file = program("grouped")
    calls = [call(5, at) for at in (0, 5, 30, ROWS - 5)] if fixed else [call(*at) for at in CALLS]
    if fixed:
        example = (torch.zeros(1, 5, WIDTH), torch.zeros(1, dtype=torch.int64))
        file = pteron.lower(copy.deepcopy(module), example)
    module, model = copy.deepcopy(module), compiled(file)
    assert rewrites(model) == 1
    session = model.new_session()
    for inputs in calls:
        (got,) = session.run("main", inputs)
        np.testing.assert_allclose(got, eager(module, inputs), atol=1e-2)


class TwoLayers(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = FlexibleAttention("plain", "added")
        self.second = FlexibleAttention("repeated", "added")

    def forward(self, x: torch.Tensor, position: torch.Tensor) -> torch.Tensor:
        return self.second(self.first(x, position), position)


def test_every_layer_is_found_whose_mask_is_added() -> None:
    """Behind the first attention the number of tokens must still be known as such."""
    module = TwoLayers().eval().requires_grad_(False)
    model = compiled(lowered(copy.deepcopy(module)))
    assert rewrites(model) == 2
    session = model.new_session()
    for inputs in (call(*at) for at in CALLS[:4]):
        (got,) = session.run("main", inputs)
        np.testing.assert_allclose(got, eager(module, inputs), atol=5e-3)
