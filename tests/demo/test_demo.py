"""The main job, end to end, as ``make demo`` runs it: Silero VAD on a real recording."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.conftest import ROOT

CHUNK = 512 / 16000


@pytest.fixture(scope="module")
def demo() -> tuple[str, dict[str, Any]]:
    """What the demo printed, and its summary."""
    result = subprocess.run(
        [sys.executable, "-m", "examples.silero_vad.demo"], cwd=ROOT, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    return result.stdout, json.loads((ROOT / "build/demo/summary.json").read_text())


def test_probabilities_agree_with_the_original(demo: tuple[str, dict[str, Any]]) -> None:
    _, summary = demo
    assert summary["chunks"] == 937
    assert 0 < summary["max_abs_diff"] <= 0.02
    assert summary["mean_abs_diff"] <= 0.002


def test_speech_segments_are_the_same_to_one_chunk(demo: tuple[str, dict[str, Any]]) -> None:
    _, summary = demo
    assert len(summary["segments"]) == len(summary["reference_segments"]) >= 1
    for ours, theirs in zip(summary["segments"], summary["reference_segments"], strict=True):
        assert ours == pytest.approx(theirs, abs=CHUNK + 1e-6)


def test_the_delegate_owns_every_state(demo: tuple[str, dict[str, Any]]) -> None:
    _, summary = demo
    assert summary["states"] == {"h": "delegate", "c": "delegate", "context": "delegate"}


def test_the_second_start_is_a_hit(demo: tuple[str, dict[str, Any]]) -> None:
    _, summary = demo
    assert (summary["cache_hits"], summary["cache_misses"]) == (1, 1)
    assert min(summary["cold_load_seconds"], summary["hit_load_seconds"]) > 0
    assert 0 < summary["real_time_factor"] < 1


def test_it_shows_its_steps_and_leaves_a_picture(demo: tuple[str, dict[str, Any]]) -> None:
    printed, summary = demo
    for words in ("$ pteron lower", "$ pteron inspect", "States", "real time"):
        assert words in printed
    assert (ROOT / "build/demo/speech.png").read_bytes()[:4] == b"\x89PNG"
    assert (ROOT / "build/demo/silero_vad.pte").stat().st_size == summary["file_bytes"]
