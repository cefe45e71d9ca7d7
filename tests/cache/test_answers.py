"""A hit's answer equals a recompile's, bit for bit, state and all."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from pteron.cache import CacheKey, DirectoryCache, load_through
from pteron.engines.base import CompiledModel, EngineOptions
from pteron.payloads.sources import FilesSource
from tests.engines.converted import ENGINE, convert

OPTIONS = EngineOptions()
STEPS = 5


class Recurrent(torch.nn.Module):
    """An LSTM cell that keeps its state in buffers, between two linear layers."""

    def __init__(self) -> None:
        super().__init__()
        self.before, self.after = torch.nn.Linear(24, 16), torch.nn.Linear(16, 8)
        self.cell = torch.nn.LSTMCell(16, 16)
        self.register_buffer("h", torch.zeros(1, 16))
        self.register_buffer("c", torch.zeros(1, 16))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h, c = self.cell(torch.relu(self.before(x)), (self.h, self.c))
        self.h.copy_(h)
        self.c.copy_(c)
        return torch.sigmoid(self.after(h))


@pytest.fixture(scope="module")
def source() -> FilesSource:
    torch.manual_seed(0)
    return convert(Recurrent(), [torch.randn(1, 24)])


def answers(model: CompiledModel) -> bytes:
    """Outputs of a few steps, and the states after them, as bytes."""
    info = next(iter(model.functions.values()))
    session = model.new_session()
    chance = np.random.default_rng(0)
    arrays = []
    for _ in range(STEPS):
        inputs = [chance.standard_normal(v.shape).astype(v.dtype) for v in info.inputs]  # type: ignore[arg-type]
        arrays += session.run(info.name, inputs)
    arrays += [session.read_state(state.name) for state in info.states]
    return b"".join(array.tobytes() for array in arrays)


def key_of(source: FilesSource) -> CacheKey:
    return CacheKey(source.digest(), ENGINE.name, ENGINE.version, ENGINE.device_features())


def load(cache: DirectoryCache, source: FilesSource) -> tuple[bytes, bool]:
    """The answers of a model that is loaded through the cache, and whether it was a hit."""
    loaded = load_through(
        cache,
        key_of(source),
        lambda directory: ENGINE.compile(source, OPTIONS, directory),
        lambda directory: ENGINE.load(source, OPTIONS, directory),
    )
    return answers(loaded.value), loaded.hit


def test_hit_answers_as_a_recompile_does(source: FilesSource, tmp_path: Path) -> None:
    cache = DirectoryCache(tmp_path / "cache")
    recompiled = answers(ENGINE.compile_in_memory(source, OPTIONS))
    assert load(cache, source) == (recompiled, False)
    assert load(cache, source) == (recompiled, True)
    cache.purge()
    assert load(cache, source) == (recompiled, False)


def test_damaged_compiled_model_is_recompiled_to_the_same_answer(
    source: FilesSource, tmp_path: Path
) -> None:
    cache = DirectoryCache(tmp_path / "cache")
    expected, _ = load(cache, source)
    with cache.find(key_of(source).identifier) as entry:
        manifest = entry.path / "functions.json"
        manifest.write_bytes(b"{" + b" " * (manifest.stat().st_size - 1))
    assert load(cache, source) == (expected, False)
    assert load(cache, source) == (expected, True)
