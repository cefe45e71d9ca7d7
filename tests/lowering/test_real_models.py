"""Small settings of real models, step by step against eager, for every owner of their state."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

import pteron
from pteron.lowering import CoreML, lower

from .reference import ExecuTorchProgram

Call = tuple[str, tuple[Tensor, ...]]


class LSTMTagger(nn.Module):
    """Tags tokens as they come; two layers keep their state from call to call."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(20, 8)
        self.lstm = nn.LSTM(8, 6, num_layers=2, batch_first=True)
        self.head = nn.Linear(6, 5)
        self.register_buffer("h", torch.zeros(2, 1, 6))
        self.register_buffer("c", torch.zeros(2, 1, 6))

    def forward(self, tokens: Tensor) -> Tensor:
        y, (h, c) = self.lstm(self.embed(tokens), (self.h, self.c))
        self.h.copy_(h)
        self.c.copy_(c)
        return self.head(y).log_softmax(-1)


class GRUTagger(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(20, 8)
        self.gru = nn.GRU(8, 6, batch_first=True)
        self.head = nn.Linear(6, 5)
        self.register_buffer("h", torch.zeros(1, 1, 6))

    def forward(self, tokens: Tensor) -> Tensor:
        y, h = self.gru(self.embed(tokens), self.h)
        self.h.copy_(h)
        return self.head(y).log_softmax(-1)


class StreamingConvolution(nn.Module):
    """Two causal convolutions, each with a ring of the last samples."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv1d(2, 4, 5)
        self.second = nn.Conv1d(4, 3, 3)
        self.register_buffer("samples", torch.zeros(1, 2, 4))
        self.register_buffer("features", torch.zeros(1, 4, 2))

    def forward(self, x: Tensor) -> Tensor:
        x = torch.cat([self.samples, x], -1)
        self.samples.copy_(x[..., -4:])
        y = torch.cat([self.features, F.relu(self.first(x))], -1)
        self.features.copy_(y[..., -2:])
        return self.second(y)


class Block(nn.Module):
    """Attention with a KV cache, and a gated MLP."""

    LENGTH = 12

    def __init__(self) -> None:
        super().__init__()
        self.qkv, self.out = nn.Linear(16, 48), nn.Linear(16, 16)
        self.up, self.down = nn.Linear(16, 64), nn.Linear(32, 16)
        self.norm1, self.norm2 = nn.RMSNorm(16), nn.RMSNorm(16)
        self.register_buffer("k", torch.zeros(1, 4, self.LENGTH, 4))
        self.register_buffer("v", torch.zeros(1, 4, self.LENGTH, 4))

    def forward(self, x: Tensor, positions: Tensor) -> Tensor:
        n = x.shape[1]
        q, k, v = (t.view(1, n, 4, 4).transpose(1, 2) for t in self.qkv(self.norm1(x)).chunk(3, -1))
        self.k.index_copy_(2, positions, k)
        self.v.index_copy_(2, positions, v)
        seen = torch.arange(self.LENGTH).view(1, -1) <= positions.view(-1, 1)
        y = F.scaled_dot_product_attention(q, self.k, self.v, attn_mask=seen[None, None])
        x = x + self.out(y.transpose(1, 2).reshape(1, n, 16))
        gate, value = self.up(self.norm2(x)).chunk(2, -1)
        return x + self.down(F.silu(gate) * value)


class Transformer(nn.Module):
    """Prefill and decode share the caches."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(20, 16)
        self.blocks = nn.ModuleList([Block(), Block()])

    def decode(self, tokens: Tensor, positions: Tensor) -> Tensor:
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x, positions)
        return x @ self.embed.weight.T

    def prefill(self, tokens: Tensor, positions: Tensor) -> Tensor:
        return self.decode(tokens, positions)[:, -1:]


class Mamba(nn.Module):
    """A selective state space with its convolution's window."""

    def __init__(self) -> None:
        super().__init__()
        self.inside, self.outside = nn.Linear(6, 16), nn.Linear(8, 6)
        self.mix = nn.Parameter(torch.randn(8, 3))
        self.select = nn.Linear(8, 1 + 4 + 4)
        self.decay = nn.Parameter(torch.rand(8, 4))
        self.register_buffer("window", torch.zeros(1, 8, 2))
        self.register_buffer("state", torch.zeros(1, 8, 4))

    def forward(self, x: Tensor) -> Tensor:
        x, gate = self.inside(x).chunk(2, -1)
        window = torch.cat([self.window, x.unsqueeze(-1)], -1)
        self.window.copy_(window[..., 1:])
        x = F.silu((window * self.mix).sum(-1))
        step, b, c = self.select(x).split([1, 4, 4], -1)
        step = F.softplus(step).unsqueeze(-1)
        new = self.state * torch.exp(-step * self.decay) + step * x.unsqueeze(-1) * b.unsqueeze(1)
        self.state.copy_(new)
        return self.outside((new * c.unsqueeze(1)).sum(-1) * F.silu(gate))


class BatchNormTraining(nn.Module):
    """Running statistics of two layers, in training mode."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm = nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3)
        self.last = nn.BatchNorm1d(3, momentum=0.3)

    def forward(self, x: Tensor) -> Tensor:
        return self.last(F.relu(self.norm(self.conv(x))).mean((2, 3)))


class Mixed(nn.Module):
    """Delegates around what Core ML does not take: float64, a branch, an int64 position."""

    def __init__(self) -> None:
        super().__init__()
        self.one, self.two = nn.Linear(4, 6), nn.Linear(6, 4)
        self.register_buffer("total", torch.zeros(1, 6))
        self.register_buffer("precise", torch.zeros(1, 4, dtype=torch.float64))
        self.register_buffer("position", torch.zeros(1, dtype=torch.int64))
        self.register_buffer("history", torch.zeros(5, 4))

    def forward(self, x: Tensor) -> Tensor:
        y = torch.tanh(self.one(x))
        self.total.add_(y)
        y = torch.cond(y.sum() > 0, lambda y: y * 2, lambda y: y - 1, (y,))
        y = self.two(y + self.total)
        self.precise.mul_(0.5).add_(y)
        self.history.index_copy_(0, self.position % 5, y)
        self.position.add_(1)
        return self.history.sum(0) + self.precise.to(torch.float32)


@dataclass(frozen=True)
class Case:
    model: Callable[[], nn.Module]
    calls: Callable[[torch.Generator], Iterator[Call]]


def forwards(make: Callable[[torch.Generator], Tensor]) -> Callable[..., Iterator[Call]]:
    def calls(generator: torch.Generator) -> Iterator[Call]:
        for _ in range(4):
            yield "forward", (make(generator),)

    return calls


def tokens(generator: torch.Generator) -> Tensor:
    return torch.randint(0, 20, (1, 3), generator=generator)


def generation(generator: torch.Generator) -> Iterator[Call]:
    """Two prompts one after the other, each continued for a while."""
    for _ in range(2):
        prompt = torch.randint(0, 20, (1, 4), generator=generator)
        yield "prefill", (prompt, torch.arange(4))
        for position in range(4, 8):
            token = torch.randint(0, 20, (1, 1), generator=generator)
            yield "decode", (token, torch.tensor([position]))


CASES = {
    "lstm_tagger": Case(LSTMTagger, forwards(tokens)),
    "gru_tagger": Case(GRUTagger, forwards(tokens)),
    "streaming_convolution": Case(
        StreamingConvolution, forwards(lambda g: torch.randn(1, 2, 3, generator=g))
    ),
    "transformer": Case(Transformer, generation),
    "mamba": Case(Mamba, forwards(lambda g: torch.randn(1, 6, generator=g))),
    "batch_norm": Case(BatchNormTraining, forwards(lambda g: torch.randn(3, 2, 5, 5, generator=g))),
    "mixed": Case(Mixed, forwards(lambda g: torch.randn(1, 4, generator=g))),
}
QUICK = {"transformer", "mixed"}
NAMES = [pytest.param(n, marks=() if n in QUICK else pytest.mark.slow) for n in CASES]
OWNERS = {"delegate": True, "program": False, "some": lambda name: hash_of(name) % 2 == 0}


def hash_of(name: str) -> int:
    """A number that is the same in every process."""
    return sum(map(ord, name))


def build(name: str) -> nn.Module:
    torch.manual_seed(5)
    return CASES[name].model().requires_grad_(False)


def calls_of(name: str) -> list[Call]:
    return list(CASES[name].calls(torch.Generator().manual_seed(9)))


def methods(name: str) -> dict[str, tuple[Any, tuple[Tensor, ...]]]:
    """Each method with the inputs of its first call."""
    model = copy.deepcopy(build(name))
    first: dict[str, tuple[Tensor, ...]] = {}
    for method, inputs in calls_of(name):
        first.setdefault(method, inputs)
    return {method: (getattr(model, method), inputs) for method, inputs in first.items()}


def compare(name: str, run: Callable[..., Any], **tolerance: float) -> None:
    model = build(name)
    for method, inputs in calls_of(name):
        with torch.no_grad():
            want = getattr(model, method)(*inputs)
        (got,) = run(method, *inputs)
        torch.testing.assert_close(torch.as_tensor(got), want, **tolerance)


@pytest.mark.parametrize("name", NAMES)
def test_undelegated_in_executorch(name: str) -> None:
    program = ExecuTorchProgram(lower(methods(name), backend=None))
    compare(name, lambda method, *inputs: program.run(*inputs, method=method))


@pytest.mark.parametrize("owner", OWNERS)
@pytest.mark.parametrize("name", NAMES)
def test_delegated_on_openvino(name: str, owner: str) -> None:
    file = lower(
        methods(name),
        backend=CoreML(compute_precision="float32"),
        take_over_mutable_buffers=OWNERS[owner],
    )
    module = pteron.load(file, cache=None)
    compare(
        name,
        lambda method, *inputs: module.methods[method](*(x.numpy() for x in inputs)),
        rtol=5e-3,
        atol=5e-3,
    )


def test_the_mixed_model_is_divided_and_its_owners_told_why():
    file = lower(methods("mixed"))
    buffers = file.lowering_report.state.buffers
    assert len(file.delegates) > 1 and file.methods["forward"].plan.operators
    assert {name: record.owner.value for name, record in buffers.items()} == {
        "total": "delegate",
        "precise": "program",
        "position": "program",
        "history": "delegate",
    }
    assert "cannot hold float64" in buffers["precise"].reason
