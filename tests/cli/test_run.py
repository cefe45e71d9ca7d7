"""``pteron run``: one call from the shell, on NumPy's files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.cli.conftest import Command


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The default cache, somewhere of its own."""
    path = tmp_path / "cache"
    monkeypatch.setenv("PTERON_CACHE_DIR", str(path))
    import pteron

    pteron.cache.reset_default_cache()
    return path


def save(path: Path, **arrays: object) -> Path:
    np.savez(path, **arrays)
    return path


def test_inputs_by_name_outputs_to_a_file(
    pteron: Command, counter_program: Path, tmp_path: Path
) -> None:
    given = save(tmp_path / "in.npz", x=np.full((1, 4), 3, np.float32))
    outcome = pteron("run", counter_program, "--inputs", given, "--outputs", tmp_path / "out.npz")
    assert outcome.code == 0
    (written,) = np.load(tmp_path / "out.npz").values()
    assert written.tolist() == [[6, 6, 6, 6]]


@pytest.mark.parametrize("key", ["x", "anything"])
def test_a_single_array_serves_a_single_input(
    pteron: Command, counter_program: Path, tmp_path: Path, key: str
) -> None:
    given = save(tmp_path / "in.npz", **{key: np.ones((1, 4), np.float32)})
    outcome = pteron("run", counter_program, "--inputs", given, "--json")
    assert outcome.code == 0
    assert list(json.loads(outcome.out).values()) == [[[2, 2, 2, 2]]]


def test_npy(pteron: Command, counter_program: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "in.npy", np.ones((1, 4), np.float32))
    outcome = pteron("run", counter_program, "--inputs", tmp_path / "in.npy")
    assert outcome.code == 0
    assert "2., 2., 2., 2." in outcome.out


def test_the_second_run_is_a_hit(
    pteron: Command, counter_program: Path, tmp_path: Path, own_cache: Path
) -> None:
    given = save(tmp_path / "in.npz", x=np.ones((1, 4), np.float32))
    first = pteron("run", counter_program, "--inputs", given)
    second = pteron("run", counter_program, "--inputs", given)
    assert first.out == second.out
    stats = json.loads(pteron("cache", "stats", "--json").out)
    assert (stats["hits"], stats["misses"]) == (1, 1)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"x": np.ones((1, 5), np.float32)}, "expected x: float32[1, 4], got float32[1, 5]"),
        ({"x": np.ones((1, 4))}, "expected x: float32[1, 4], got float64[1, 4]"),
        ({"x": np.ones(1), "y": np.ones(1)}, "holds x, y; the inputs are x"),
        ({}, "the inputs are x"),
    ],
)
def test_wrong_inputs_are_told(
    pteron: Command,
    counter_program: Path,
    tmp_path: Path,
    arrays: dict[str, np.ndarray],
    message: str,
) -> None:
    outcome = pteron("run", counter_program, "--inputs", save(tmp_path / "in.npz", **arrays))
    assert outcome.code == 2
    assert message in outcome.err
    assert "Traceback" not in outcome.err


def test_no_inputs_given(pteron: Command, counter_program: Path) -> None:
    outcome = pteron("run", counter_program)
    assert outcome.code == 2
    assert "input 'x' is missing" in outcome.err


def test_unwritable_output_leaves_nothing(
    pteron: Command, counter_program: Path, tmp_path: Path
) -> None:
    given = save(tmp_path / "in.npz", x=np.ones((1, 4), np.float32))
    outcome = pteron("run", counter_program, "--inputs", given, "--outputs", tmp_path / "no/o.npz")
    assert outcome.code == 2
    assert outcome.err.startswith("pteron: ")


def test_unknown_method_lists_the_known(pteron: Command, counter_program: Path) -> None:
    outcome = pteron("run", counter_program, "--method", "decode")
    assert outcome.code == 2
    assert "no method 'decode' in this program; its methods: forward" in outcome.err


def test_a_cache_that_cannot_be_written_is_a_warning(
    pteron: Command,
    counter_program: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("PTERON_CACHE_DIR", str(tmp_path / "file"))
    import pteron as package

    package.cache.reset_default_cache()
    given = save(tmp_path / "in.npz", x=np.ones((1, 4), np.float32))
    outcome = pteron("run", counter_program, "--inputs", given)
    assert outcome.code == 0
    assert "2., 2., 2., 2." in outcome.out
    assert "without a cache" in caplog.text


def test_stream_keeps_state_and_stacks(
    pteron: Command, counter_program: Path, tmp_path: Path
) -> None:
    steps = np.arange(12, dtype=np.float32).reshape(3, 1, 4)
    given = save(tmp_path / "in.npz", x=steps)
    outcome = pteron(
        "run", counter_program, "--inputs", given, "--stream", "--outputs", tmp_path / "out.npz"
    )
    assert outcome.code == 0
    (written,) = np.load(tmp_path / "out.npz").values()
    assert np.array_equal(written, np.cumsum(steps, axis=0) * 2)


def test_repeat(pteron: Command, counter_program: Path, tmp_path: Path) -> None:
    given = save(tmp_path / "in.npz", x=np.ones((1, 4), np.float32))
    outcome = pteron("run", counter_program, "--inputs", given, "--repeat", 5, "--json")
    assert list(json.loads(outcome.out).values()) == [[[10, 10, 10, 10]]]


def test_state_goes_from_run_to_run(pteron: Command, counter_program: Path, tmp_path: Path) -> None:
    given = save(tmp_path / "in.npz", x=np.ones((1, 4), np.float32))
    kept = tmp_path / "state.safetensors"
    assert pteron("run", counter_program, "--inputs", given, "--save-state", kept).code == 0
    second = pteron("run", counter_program, "--inputs", given, "--load-state", kept, "--json")
    assert list(json.loads(second.out).values()) == [[[4, 4, 4, 4]]]


def test_inputs_that_cannot_be_streamed(
    pteron: Command, counter_program: Path, tmp_path: Path
) -> None:
    given = save(tmp_path / "in.npz", x=np.float32(1))
    outcome = pteron("run", counter_program, "--inputs", given, "--stream")
    assert outcome.code == 2
    assert "first axis" in outcome.err


def test_json_has_no_nan(pteron: Command, counter_program: Path, tmp_path: Path) -> None:
    x = np.array([[np.nan, np.inf, -np.inf, 1]], np.float32)
    given = save(tmp_path / "in.npz", x=x)
    outcome = pteron("run", counter_program, "--inputs", given, "--json")
    (value,) = json.loads(outcome.out, parse_constant=lambda name: pytest.fail(name)).values()
    assert value == [["NaN", "Infinity", "-Infinity", 2]]
