"""Stateful modules, step by step against PyTorch eager, with state values kept in fp16."""

from __future__ import annotations

import copy
import gc

import numpy as np
import pytest
import torch
from torch import nn

from pteron.engines.base import EngineOptions
from pteron.errors import StateError
from tests.engines.converted import ENGINE, compile_source, convert


class SpeechCell(nn.Module):
    """The ops of a streaming voice detector in small."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.stft = nn.Conv1d(1, 18, 16, stride=8, bias=False)
        self.conv = nn.Conv1d(9, 8, 3, padding=1)
        self.cell = nn.LSTMCell(8, 8)
        self.out = nn.Conv1d(8, 1, 1)
        self.register_buffer("h", torch.zeros(1, 8))
        self.register_buffer("c", torch.zeros(1, 8))
        self.register_buffer("context", torch.zeros(1, 8))

    def forward(self, chunk: torch.Tensor) -> torch.Tensor:
        x = torch.cat([self.context, chunk], dim=1)
        context = chunk[:, -8:]
        x = nn.functional.pad(x, (0, 8), "reflect").unsqueeze(1)
        x = self.stft(x)
        x = torch.sqrt(x[:, :9] ** 2 + x[:, 9:] ** 2)
        x = torch.relu(self.conv(x)).mean(-1)
        h, c = self.cell(x, (self.h, self.c))
        self.h.copy_(h)
        self.c.copy_(c)
        self.context.copy_(context)
        return torch.sigmoid(self.out(torch.relu(h).unsqueeze(-1))).mean(-1)


class Attention(nn.Module):
    """One decoder block's attention: RMS norm, rotary embedding, a KV cache, grouped heads."""

    def __init__(self, length: int = 16, heads: int = 4, kv_heads: int = 2, size: int = 8) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.heads, self.kv_heads, self.size = heads, kv_heads, size
        width = heads * size
        self.norm = nn.RMSNorm(width)
        self.q = nn.Linear(width, width, bias=False)
        self.kv = nn.Linear(width, 2 * kv_heads * size, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        angles = torch.arange(length)[:, None] / 100 ** (torch.arange(0, size, 2) / size)
        self.register_buffer("cos", torch.cat([angles.cos()] * 2, -1))
        self.register_buffer("sin", torch.cat([angles.sin()] * 2, -1))
        self.register_buffer("k_cache", torch.zeros(1, kv_heads, length, size))
        self.register_buffer("v_cache", torch.zeros(1, kv_heads, length, size))

    def rotate(self, x: torch.Tensor, position: torch.Tensor) -> torch.Tensor:
        half = self.size // 2
        turned = torch.cat([-x[..., half:], x[..., :half]], -1)
        return x * self.cos[position] + turned * self.sin[position]

    def forward(self, x: torch.Tensor, position: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        y = self.norm(x)
        q = self.q(y).view(1, 1, self.heads, self.size).transpose(1, 2)
        k, v = self.kv(y).view(1, 1, 2 * self.kv_heads, self.size).transpose(1, 2).chunk(2, 1)
        self.k_cache[:, :, position] = self.rotate(k, position)
        self.v_cache[:, :, position] = v
        q = self.rotate(q, position)
        k, v = (c.repeat_interleave(2, 1) for c in (self.k_cache, self.v_cache))
        y = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return x + self.out(y.transpose(1, 2).reshape(1, 1, -1))


def speech_steps() -> list[tuple[torch.Tensor, ...]]:
    generator = torch.Generator().manual_seed(7)
    return [(torch.randn(1, 32, generator=generator),) for _ in range(6)]


def attention_steps() -> list[tuple[torch.Tensor, ...]]:
    generator = torch.Generator().manual_seed(8)
    steps = []
    for step in range(6):
        mask = torch.zeros(1, 1, 1, 16).masked_fill(torch.arange(16) > step, -1e4)
        position = torch.tensor([step], dtype=torch.int32)
        steps.append((torch.randn(1, 1, 32, generator=generator), position, mask))
    return steps


CASES = [(SpeechCell, speech_steps, ("h", "c", "context"))]
CASES.append((Attention, attention_steps, ("k_cache", "v_cache")))


@pytest.mark.parametrize(("module", "steps", "states"), CASES, ids=["speech", "attention"])
@pytest.mark.parametrize("precision", ["model", "f32"])
def test_every_step_agrees_with_eager(module, steps, states, precision) -> None:
    eager = module().eval()
    inputs = steps()
    session = compile_source(convert(eager, inputs[0]), precision).new_session()
    eager = copy.deepcopy(eager)
    for step in inputs:
        with torch.no_grad():
            expected = eager(*step).numpy()
        (actual,) = session.run("main", [tensor.numpy() for tensor in step])
        np.testing.assert_allclose(actual, expected, atol=5e-3, rtol=5e-3)
        for name in states:
            value = session.read_state(name)
            assert value.dtype == np.float16
            np.testing.assert_allclose(value, getattr(eager, name), atol=5e-3, rtol=5e-3)


def test_state_is_written_reset_and_independent_per_session() -> None:
    module, inputs = SpeechCell().eval(), speech_steps()
    compiled = compile_source(convert(module, inputs[0]))
    first, second = compiled.new_session(), compiled.new_session()
    x = [inputs[0][0].numpy()]
    (fresh,) = first.run("main", x)
    (moved,) = first.run("main", x)
    assert not np.array_equal(fresh, moved)
    np.testing.assert_array_equal(second.run("main", x)[0], fresh)

    kept = {name: first.read_state(name) for name in ("h", "c", "context")}
    (later,) = first.run("main", x)
    for name, value in kept.items():
        first.write_state(name, value)
        np.testing.assert_array_equal(first.read_state(name), value)
    np.testing.assert_array_equal(first.run("main", x)[0], later)

    for name in kept:
        first.reset_state(name)
        assert not first.read_state(name).any()
    np.testing.assert_array_equal(first.run("main", x)[0], fresh)


def test_outputs_and_state_values_belong_to_the_caller() -> None:
    module, inputs = SpeechCell().eval(), speech_steps()
    session = compile_source(convert(module, inputs[0])).new_session()
    (output,) = session.run("main", [inputs[0][0].numpy()])
    state = session.read_state("h")
    before = output.copy(), state.copy()
    session.run("main", [inputs[1][0].numpy()])
    np.testing.assert_array_equal(output, before[0])
    np.testing.assert_array_equal(state, before[1])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("h", np.zeros((1, 8), np.float32)),
        ("h", np.zeros((1, 9), np.float16)),
        ("x", np.zeros((1, 8), np.float16)),
    ],
)
def test_a_state_takes_nothing_but_its_own_type(name, value) -> None:
    module, inputs = SpeechCell().eval(), speech_steps()
    session = compile_source(convert(module, inputs[0])).new_session()
    with pytest.raises(StateError, match=name):
        session.write_state(name, value)


def test_files_left_by_compile_give_the_same_numbers(tmp_path) -> None:
    module, inputs = Attention().eval(), attention_steps()
    source, options = convert(module, inputs[0]), EngineOptions()
    direct = ENGINE.compile_in_memory(source, options)
    ENGINE.compile(source, options, tmp_path)
    loaded = ENGINE.load(source, options, tmp_path)
    assert loaded.functions == direct.functions
    sessions = direct.new_session(), loaded.new_session()
    for step in inputs:
        arrays = [tensor.numpy() for tensor in step]
        one, other = (session.run("main", arrays) for session in sessions)
        np.testing.assert_array_equal(one[0], other[0])


def test_a_session_outlives_the_compiled_model_it_came_from(tmp_path) -> None:
    module, inputs = Attention().eval(), attention_steps()
    source, options = convert(module, inputs[0]), EngineOptions()
    ENGINE.compile(source, options, tmp_path)
    session = ENGINE.load(source, options, tmp_path).new_session()
    gc.collect()
    arrays = [tensor.numpy() for tensor in inputs[0]]
    (expected,) = compile_source(source).new_session().run("main", arrays)
    np.testing.assert_array_equal(session.run("main", arrays)[0], expected)


@pytest.mark.parametrize("value", [0.0, 3.0])
def test_a_constant_is_written_at_every_call(value) -> None:
    class Fill(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("b", torch.zeros(2, 3))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.b.copy_(torch.full((2, 3), value))
            return x + 1

    x = torch.ones(2)
    session = compile_source(convert(Fill(), (x,))).new_session()
    for held in (np.nan, 7.0):
        session.write_state("b", np.full((2, 3), held, np.float16))
        session.run("main", [x.numpy()])
        np.testing.assert_array_equal(session.read_state("b"), np.full((2, 3), value, np.float16))
