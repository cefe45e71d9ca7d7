"""Attention over states in place: the same numbers, the same states, whoever looks."""

from __future__ import annotations

import copy
import subprocess
import sys
from functools import cache

import numpy as np
import pytest
import torch
from torch import nn

import pteron
from pteron.engines.base import CompiledModel, EngineOptions
from pteron.engines.openvino.passes.paged_attention import available
from pteron.payloads import open_payload
from pteron.payloads.base import PayloadSource
from tests.engines.converted import ENGINE

pytestmark = pytest.mark.skipif(not available(), reason="another OpenVINO, or processor")

ROWS = 40  # no multiple of a page
STATES = ("k_cache", "v_cache")


class Attention(nn.Module):
    """One layer's attention to a cache, at a position; ``form`` says how heads are shared."""

    def __init__(self, form: str, size: int = 32, mask: str = "causal") -> None:
        super().__init__()
        torch.manual_seed(1)
        self.form, self.mask = form, mask
        self.heads, self.kv_heads, self.size = 4, 4 if form == "plain" else 2, size
        width = self.heads * size
        self.q = nn.Linear(width, width, bias=False)
        self.kv = nn.Linear(width, 2 * self.kv_heads * size, bias=False)
        rows = (1, self.kv_heads, ROWS, size)
        self.register_buffer("k_cache", torch.zeros(rows))
        self.register_buffer("v_cache", torch.zeros(rows))

    def forward(self, x: torch.Tensor, position: torch.Tensor) -> torch.Tensor:
        q = self.q(x).view(1, 1, self.heads, self.size).transpose(1, 2)
        k, v = self.kv(x).view(1, 1, 2 * self.kv_heads, self.size).transpose(1, 2).chunk(2, 1)
        key_row, value_row = self.written(position)
        self.k_cache[:, :, key_row] = k
        self.v_cache[:, :, value_row] = v
        mask = self.visible(position)
        k, v = self.k_cache, self.v_cache
        if self.form == "repeated":
            k, v = (cache.repeat_interleave(2, 1) for cache in (k, v))
        if self.form == "grouped":
            q = q.view(1, self.kv_heads, -1, self.size)
        y = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return y.reshape(1, 1, -1)

    def written(self, position: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Rows of keys and of values that are written."""
        return position, position

    def visible(self, position: torch.Tensor) -> torch.Tensor:
        rows = torch.arange(ROWS)
        if self.mask == "window":
            return ((rows <= position) & (rows > position - 3)).view(1, 1, 1, ROWS)
        if self.mask == "added":
            return torch.zeros(ROWS).masked_fill(rows > position, -1e4).view(1, 1, 1, ROWS)
        return (rows <= position).view(1, 1, 1, ROWS)


@cache
def payload(form: str, size: int = 32, mask: str = "causal") -> tuple[nn.Module, PayloadSource]:
    """The module, and the payload that pteron lowers it to."""
    module = Attention(form, size, mask).eval().requires_grad_(False)
    inputs = (torch.zeros(1, 1, module.heads * size), torch.zeros(1, dtype=torch.int64))
    (delegate,) = pteron.lower(copy.deepcopy(module), inputs).delegates
    return module, open_payload(delegate.backend_id, delegate.payload, {}, delegate.method)


def compiled(source: PayloadSource, precision: str = "model") -> CompiledModel:
    return ENGINE.compile_in_memory(source, EngineOptions(precision))


def steps(width: int, count: int = 6) -> list[list[np.ndarray]]:
    values = np.random.default_rng(3).standard_normal((count, 1, 1, width)).astype(np.float32)
    return [[value, np.array([at], np.int32)] for at, value in enumerate(values)]


def rewrites(model: CompiledModel) -> int:
    return model.compilations["main"].rewrites.get("state_attention", 0)


FORMS = [("plain", "causal"), ("repeated", "causal"), ("repeated", "added"), ("grouped", "causal")]


@pytest.mark.parametrize(("form", "mask"), FORMS)
def test_every_step_agrees_with_eager_and_the_reference_mode(form: str, mask: str) -> None:
    module, source = payload(form, mask=mask)
    module = copy.deepcopy(module)
    model, reference = compiled(source), compiled(source, "f32")
    assert (rewrites(model), rewrites(reference)) == (1, 0)
    assert model.compilations["main"].state_bytes_copied == 0
    session, other = model.new_session(), reference.new_session()
    for x, position in steps(module.heads * module.size):
        with torch.no_grad():
            wanted = module(torch.from_numpy(x), torch.from_numpy(position)).numpy()
        (got,) = session.run("main", [x, position])
        (exact,) = other.run("main", [x, position])
        np.testing.assert_allclose(got, wanted, atol=5e-3)
        np.testing.assert_allclose(got, exact, atol=2e-3)
        for name in STATES:
            value = session.read_state(name)
            assert value.dtype == np.float16
            np.testing.assert_allclose(value, getattr(module, name), atol=5e-3)


def test_any_position_may_follow_any_other() -> None:
    module, source = payload("repeated")
    session, other = compiled(source).new_session(), compiled(source, "f32").new_session()
    inputs = steps(module.heads * module.size, 5)
    for (x, _), at in zip(inputs, [7, 0, ROWS - 1, 7, 8], strict=True):
        given = [x, np.array([at], np.int32)]
        (got,), (exact,) = session.run("main", given), other.run("main", given)
        np.testing.assert_allclose(got, exact, atol=2e-3)


def test_states_are_written_reset_and_independent_per_session() -> None:
    module, source = payload("grouped")
    model = compiled(source)
    first, second = model.new_session(), model.new_session()
    inputs = steps(module.heads * module.size)
    outputs = [first.run("main", step)[0] for step in inputs]
    kept = {name: first.read_state(name) for name in STATES}
    for name, value in kept.items():
        second.write_state(name, value)
        np.testing.assert_array_equal(second.read_state(name), value)
    np.testing.assert_array_equal(second.run("main", inputs[5])[0], outputs[5])
    for name in STATES:
        first.reset_state(name)
        assert not first.read_state(name).any()
    np.testing.assert_array_equal(first.run("main", inputs[0])[0], outputs[0])
    np.testing.assert_array_equal(second.read_state("k_cache"), kept["k_cache"])


def test_files_left_by_compile_give_the_same_numbers(tmp_path) -> None:
    module, source = payload("repeated")
    options = EngineOptions()
    ENGINE.compile(source, options, tmp_path)
    loaded, direct = ENGINE.load(source, options, tmp_path), compiled(source)
    assert loaded.functions == direct.functions
    sessions = loaded.new_session(), direct.new_session()
    for step in steps(module.heads * module.size):
        one, other = (session.run("main", step)[0] for session in sessions)
        np.testing.assert_array_equal(one, other)


def test_files_load_in_a_process_that_compiled_nothing(tmp_path) -> None:
    _, source = payload("repeated")
    ENGINE.compile(source, EngineOptions(), tmp_path)
    code = (
        "import sys, pathlib; from pteron.engines.base import EngineOptions\n"
        "from pteron.engines.openvino import OpenVINOEngine\n"
        "model = OpenVINOEngine().load(None, EngineOptions(), pathlib.Path(sys.argv[1]))\n"
        "print(model.compilations['main'].rewrites['state_attention'])"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1"]


def test_a_mask_that_hides_more_is_left_alone() -> None:
    _, source = payload("repeated", mask="window")
    assert rewrites(compiled(source)) == 0


@pytest.mark.slow
@pytest.mark.parametrize("size", [8, 16, 64])
def test_head_sizes(size: int) -> None:
    module, source = payload("repeated", size)
    module = copy.deepcopy(module)
    model = compiled(source)
    assert rewrites(model) == 1
    session = model.new_session()
    for x, position in steps(module.heads * module.size, 3):
        with torch.no_grad():
            wanted = module(torch.from_numpy(x), torch.from_numpy(position)).numpy()
        np.testing.assert_allclose(session.run("main", [x, position])[0], wanted, atol=5e-3)
