"""Delegate-owned state: read, write, reset, snapshot, save, fork."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pteron
from pteron.errors import FileAccessError, FormatError, StateError
from pteron.runtime import Module

ONES = np.ones((1, 4), np.float32)


@pytest.fixture
def module(counter_program: Path) -> Module:
    return pteron.load(counter_program, cache=None)


def total(module: Module) -> list[float]:
    return module.state["total"].read()[0].tolist()


def test_it_begins_at_zero_and_is_kept(module: Module) -> None:
    assert total(module) == [0, 0, 0, 0]
    module.forward(ONES)
    (doubled,) = module.forward(ONES)
    assert total(module) == [2, 2, 2, 2]
    assert doubled.tolist() == [[4, 4, 4, 4]]
    assert doubled.dtype == np.float32


def test_write_and_reset(module: Module) -> None:
    module.state["total"].write(np.array([[1, 2, 3, 4]], np.float32))
    (doubled,) = module.forward(ONES)
    assert doubled.tolist() == [[4, 6, 8, 10]]
    module.state["total"].reset()
    assert total(module) == [0, 0, 0, 0]


def test_what_was_read_is_a_copy(module: Module) -> None:
    before = module.state["total"].read()
    module.forward(ONES)
    assert before.tolist() == [[0, 0, 0, 0]]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.zeros((1, 3), np.float32), "state 'total' is float16[1, 4], got float32[1, 3]"),
        (np.zeros((1, 4), np.complex64), "is float16[1, 4], got complex64[1, 4]"),
        (np.full((1, 4), 1e6, np.float32), "a value is too large for it"),
    ],
)
def test_what_does_not_fit_is_refused(module: Module, value: object, message: str) -> None:
    module.forward(ONES)
    with pytest.raises(StateError, match=message.replace("[", r"\[")):
        module.state["total"].write(value)
    assert total(module) == [1, 1, 1, 1]


def test_infinity_may_be_written(module: Module) -> None:
    module.state["total"].write(np.full((1, 4), np.inf, np.float32))
    assert total(module) == [np.inf] * 4


def test_unknown_name_lists_the_known(module: Module) -> None:
    with pytest.raises(StateError, match=r"no state 'totl' .*; this module's states: total"):
        module.state["totl"]
    assert "totl" not in module.state


def test_snapshot_and_restore(module: Module) -> None:
    module.forward(ONES)
    snapshot = module.state.snapshot()
    first = module.forward(ONES)
    module.state.restore(snapshot)
    assert np.array_equal(first, module.forward(ONES))


def test_save_and_load_in_another_module(
    module: Module, counter_program: Path, tmp_path: Path
) -> None:
    module.forward(ONES)
    module.state.save(tmp_path / "prefix.safetensors")
    other = pteron.load(counter_program, cache=None)
    other.state.load(tmp_path / "prefix.safetensors")
    assert total(other) == [1, 1, 1, 1]


def test_a_snapshot_of_another_program_is_refused(module: Module, tmp_path: Path) -> None:
    import torch

    class Other(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("total", torch.zeros(1, 4))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.total.mul_(x)
            return self.total + 1

    other = pteron.load(pteron.lower(Other(), (torch.ones(1, 4),)), cache=None)
    with pytest.raises(StateError, match="another program"):
        module.state.restore(other.state.snapshot())


def test_bad_snapshot_files(module: Module, tmp_path: Path) -> None:
    from safetensors.numpy import save_file

    with pytest.raises(FileAccessError):
        module.state.load(tmp_path / "missing.safetensors")
    (tmp_path / "text").write_text("no")
    with pytest.raises(FormatError):
        module.state.load(tmp_path / "text")
    save_file({"total": np.zeros((1, 4), np.float16)}, tmp_path / "plain.safetensors")
    with pytest.raises(FormatError, match="no snapshot"):
        module.state.load(tmp_path / "plain.safetensors")
    with pytest.raises(FileAccessError):
        module.state.save(tmp_path / "no" / "directory.safetensors")


def test_fork_starts_from_here_and_goes_its_own_way(module: Module) -> None:
    module.forward(ONES)
    child = module.fork()
    child.forward(ONES)
    assert (total(module), total(child)) == ([1, 1, 1, 1], [2, 2, 2, 2])


def test_calls_from_several_threads_take_turns(module: Module) -> None:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: module.forward(ONES), range(64)))
    assert total(module) == [64, 64, 64, 64]
