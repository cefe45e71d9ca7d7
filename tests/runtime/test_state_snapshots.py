"""Snapshots: what they belong to, and what files come back as."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch
from torch import Tensor, nn

import pteron
from pteron.errors import FileAccessError, FormatError, StateError, UsageError
from pteron.runtime import Module, ModuleState, Snapshot
from pteron.runtime.identity import Identity
from pteron.runtime.program_state import ProgramState
from pteron.runtime.turns import new_turns


class Scaled(nn.Module):
    """A running sum of what is scaled by a weight that only the program's constants tell."""

    def __init__(self, scale: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.full((4,), scale))
        self.register_buffer("total", torch.zeros(1, 4))
        self.register_buffer("steps", torch.zeros((), dtype=torch.int64))

    def forward(self, x: Tensor) -> Tensor:
        self.total.add_(x * self.weight)
        self.steps.add_(1)
        return self.total * 2


def portable(scale: float) -> pteron.PTEFile:
    return pteron.lower(Scaled(scale), (torch.ones(1, 4),), backend=None)


@pytest.fixture(scope="module")
def program() -> pteron.PTEFile:
    return portable(2.0)


@pytest.fixture
def module(program: pteron.PTEFile) -> Module:
    return pteron.load(program, cache=None)


def values(module: Module) -> dict[str, Any]:
    return {name: entry.read().tolist() for name, entry in module.state.items()}


def test_states_of_rank_0_and_int64_come_back_from_a_file(
    module: Module, program: pteron.PTEFile, tmp_path: Path
) -> None:
    module.forward(np.ones((1, 4), np.float32))
    module.state.save(tmp_path / "s.safetensors")
    other = pteron.load(program, cache=None)
    other.state.load(tmp_path / "s.safetensors")
    assert values(other) == values(module) == {"total": [[2, 2, 2, 2]], "steps": 1}


def test_a_program_with_other_weights_is_another_program(module: Module) -> None:
    with pytest.raises(StateError, match="another program"):
        pteron.load(portable(3.0), cache=None).state.restore(module.state.snapshot())


def test_a_saved_program_is_the_same(module: Module, tmp_path: Path) -> None:
    portable(2.0).save(tmp_path / "p.pte")
    module.forward(np.ones((1, 4), np.float32))
    other = pteron.load(tmp_path / "p.pte", cache=None)
    other.state.restore(module.state.snapshot())
    assert values(other) == values(module)


def test_the_executorch_engine_knows_its_own_snapshots(program: pteron.PTEFile) -> None:
    pytest.importorskip("executorch")
    module = pteron.load(program, engine="executorch")
    snapshot = module.state.snapshot()
    module.forward(np.ones((1, 4), np.float32))
    module.state.restore(snapshot)
    assert values(module)["total"] == [[0, 0, 0, 0]]


def test_a_snapshot_outlives_what_comes_after_and_cannot_be_changed(module: Module) -> None:
    module.forward(np.ones((1, 4), np.float32))
    snapshot = module.state.snapshot()
    with pytest.raises(ValueError, match="read-only"):
        snapshot.values["total"][:] = 9
    for _ in range(2):
        module.state.reset()
        module.state.restore(snapshot)
        module.forward(np.ones((1, 4), np.float32))
        assert values(module)["total"] == [[4, 4, 4, 4]]


def test_a_snapshot_that_lacks_a_state_or_has_a_wrong_one_changes_nothing(module: Module) -> None:
    module.forward(np.ones((1, 4), np.float32))
    before = values(module)
    good = module.state.snapshot()
    for wrong, message in [
        ({"total": good.values["total"]}, "this snapshot lacks steps"),
        ({**good.values, "more": np.zeros(1)}, "no state 'more'"),
        ({**good.values, "steps": np.zeros(2, np.int64)}, "is int64"),
        ({**good.values, "steps": [1, 2]}, "is int64"),
        ({"total": np.zeros((1, 4), np.float32), "steps": np.zeros((), np.float32)}, "is int64"),
    ]:
        with pytest.raises(StateError, match=message):
            module.state.restore(Snapshot(good.identity, wrong))
        assert values(module) == before
    with pytest.raises(StateError, match="expected a snapshot, not dict"):
        module.state.restore({})  # type: ignore[arg-type]


def test_the_first_snapshot_after_a_close_is_one_clear_error(tmp_path: Path) -> None:
    portable(2.0).save(tmp_path / "p.pte")
    module = pteron.load(tmp_path / "p.pte", cache=None)
    module.close()
    with pytest.raises(UsageError, match="the file is closed"):
        module.state.snapshot()


def one_state(name: str, value: Any) -> ModuleState:
    turns = new_turns()
    return ModuleState({name: ProgramState(name, value, turns)}, Identity(lambda: [b"p"]), turns)


@pytest.mark.parametrize(
    "dtype",
    [
        np.bool_,
        np.uint16,
        np.float64,
        ml_dtypes.bfloat16,
        ml_dtypes.float8_e4m3fn,
        ml_dtypes.float8_e5m2,
    ],
)
def test_every_dtype_comes_back_from_a_file(dtype: Any, tmp_path: Path) -> None:
    state = one_state("s", np.array([[0, 1], [1, 0]], dtype).T)
    state.save(tmp_path / "s.safetensors")
    before = state["s"].read()
    state["s"].write(np.zeros((2, 2), dtype))
    state.load(tmp_path / "s.safetensors")
    assert state["s"].read().dtype == dtype
    assert state["s"].read().tolist() == before.tolist()


def test_a_name_that_the_format_keeps_for_itself_is_refused(tmp_path: Path) -> None:
    state = one_state("__metadata__", np.zeros(1))
    with pytest.raises(StateError, match="__metadata__"):
        state.save(tmp_path / "s.safetensors")
    assert list(tmp_path.iterdir()) == []


def safetensors(header: object, data: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


META = {"__metadata__": {"pteron.identity": "x"}}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\0" * 8,
        b"\xff" * 16,
        safetensors(b"[1"),
        safetensors({**META, "s": {"dtype": "F4", "shape": [4], "data_offsets": [0, 2]}}, b"ab"),
        safetensors(
            {**META, "s": {"dtype": "F8_E8M0", "shape": [2], "data_offsets": [0, 2]}}, b"ab"
        ),
        safetensors({**META, "s": {"dtype": "F32", "shape": [9], "data_offsets": [0, 4]}}, b"abcd"),
        safetensors({**META, "s": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}, b"ab"),
        safetensors(
            {**META, "s": {"dtype": "F32", "shape": [-1], "data_offsets": [0, 4]}}, b"abcd"
        ),
        safetensors({"__metadata__": {"other": "x"}}),
        safetensors({}),
    ],
)
def test_a_file_that_is_no_snapshot_is_one_clear_error(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "s.safetensors"
    path.write_bytes(content)
    with pytest.raises(FormatError):
        Snapshot.load(path)


def test_a_directory_is_no_snapshot(tmp_path: Path) -> None:
    with pytest.raises(FileAccessError, match="is a directory"):
        Snapshot.load(tmp_path)
