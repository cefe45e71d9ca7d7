"""``pteron bench`` from the shell. What times come out, no test may ask."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.cli.conftest import Command
from tests.cli.conftest import pteron as pteron

QUICK = ("--warmup", 1, "--repeat", 3)


@pytest.fixture(autouse=True)
def small_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bandwidth measured on little memory, and no real machine's."""
    monkeypatch.setattr("pteron.bench.bandwidth.BYTES", 1 << 20)


def test_json_and_trace(pteron: Command, counter_program: Path, tmp_path: Path) -> None:
    trace = tmp_path / "trace.json"
    outcome = pteron("bench", counter_program, *QUICK, "--json", "--trace", trace)
    assert outcome.code == 0
    result = json.loads(outcome.out)
    assert (result["method"], result["repeat"], result["precision"]) == ("forward", 3, "model")
    latency = result["latency"]
    assert 0 < latency["least"] <= latency["p50"] <= latency["p99"] <= latency["most"]
    assert result["calls_per_second"] == pytest.approx(1 / latency["mean"])
    assert result["load"]["cold"] > 0
    assert result["load"]["hit"] > 0
    assert result["state_bytes"] == result["state_bytes_copied"] == 8
    (instruction,) = result["instructions"]
    assert (instruction["name"], instruction["delegate"]) == ("CoreMLBackend", 0)
    assert sum(op["seconds"] for op in instruction["ops"]) <= instruction["seconds"]
    events = json.loads(trace.read_text())["traceEvents"]
    assert [e["cat"] for e in events].count("delegate") == 3
    ops = {e["args"]["op"] for e in events if e["cat"] == "op"} - {None}
    assert ops


@pytest.mark.parametrize("columns", [80, 100])
def test_the_page_fits(
    pteron: Command, counter_program: Path, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    outcome = pteron("bench", counter_program, *QUICK)
    assert outcome.code == 0
    for word in ("latency", "throughput", "limit", "load", "peak memory", "state", "rewrites"):
        assert word in outcome.out
    assert max(map(len, outcome.out.splitlines())) <= columns


def test_inputs_of_a_file_must_fit(pteron: Command, counter_program: Path, tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", x=np.ones((1, 5), np.float32))
    outcome = pteron("bench", counter_program, "--inputs", tmp_path / "x.npz")
    assert outcome.code == 2
    assert "'x'" in outcome.err or "x: float32[1, 4]" in outcome.err


def test_the_users_cache_is_left_alone(
    pteron: Command, counter_program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PTERON_CACHE_DIR", str(tmp_path / "cache"))
    assert pteron("bench", counter_program, *QUICK, "--json").code == 0
    assert not (tmp_path / "cache").exists()


def test_a_package(pteron: Command, counter_program: Path, tmp_path: Path) -> None:
    package = extracted_package(pteron, counter_program, tmp_path)
    outcome = pteron("bench", package, *QUICK, "--json")
    assert outcome.code == 0, outcome.err
    result = json.loads(outcome.out)
    assert result["method"] == "main"
    assert result["load"]["payload_bytes"] > 0
    assert result["instructions"][0]["kind"] == "delegate"


def test_from_python_a_path_may_be_text(pteron: Command, counter_program: Path) -> None:
    import pteron as library

    options = library.bench.Options(warmup=0, repeat=1)
    result, _ = library.bench.benchmark(str(counter_program), options)
    assert result.file == str(counter_program)
    assert result.load.payload_bytes > 0


def extracted_package(pteron: Command, program: Path, directory: Path) -> Path:
    """The Core ML package that is in the program's payload."""
    target = directory / "extracted"
    assert pteron("extract", program, "-o", target).code == 0
    manifest = next(target.rglob("Manifest.json"))
    package = directory / "counter.mlpackage"
    shutil.copytree(manifest.parent, package)
    return package


def test_kernels_are_timed(pteron: Command, tmp_path: Path) -> None:
    import torch

    import pteron as library

    path = tmp_path / "undelegated.pte"
    library.lower(torch.nn.Linear(4, 4), (torch.ones(1, 4),), backend=None).save(path)
    outcome = pteron("bench", path, *QUICK, "--json")
    assert outcome.code == 0, outcome.err
    result = json.loads(outcome.out)
    assert {i["kind"] for i in result["instructions"]} == {"kernel"}
    assert result["load"]["cold"] is None
    assert result["limit"]["weight_bytes"] >= 4 * 4 * 4


def test_several_streams(pteron: Command, counter_program: Path) -> None:
    asked = ("bench", counter_program, *QUICK, "--threads", 1, "--streams", 2)
    outcome = pteron(*asked, "--json")
    assert outcome.code == 0, outcome.err
    throughput = json.loads(outcome.out)["throughput"]
    assert throughput["streams"] == 2
    assert throughput["calls_per_second"] > 0
    assert "2 streams" in pteron(*asked).out
    assert pteron("bench", counter_program, "--streams", 0).code == 2
