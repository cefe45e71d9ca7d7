"""Many processes that want the same compiled model at once cause one compile."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

from pteron.cache import DirectoryCache
from tests.cache.test_crash import ROOT

PROCESSES = 32


def stampede(directory: Path, *arguments: str) -> list[int]:
    command = [sys.executable, "-m", "tests.cache.stampede", str(directory), *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return [int(code) for code in done.stdout.split()]


def test_cold_key_is_compiled_once(tmp_path: Path) -> None:
    assert stampede(tmp_path) == [0] * PROCESSES
    assert len((tmp_path / "compiled").read_text().split()) == 1
    statistics = DirectoryCache(tmp_path / "cache").statistics()
    assert (statistics.hits, statistics.misses, statistics.stores) == (PROCESSES - 1, 1, 1)


def test_waiter_takes_over_when_the_compiler_is_killed(tmp_path: Path) -> None:
    assert stampede(tmp_path, "kill") == [-signal.SIGKILL] + [0] * (PROCESSES - 1)
    assert len((tmp_path / "compiled").read_text().split()) == 1
    cache = DirectoryCache(tmp_path / "cache")
    assert cache.statistics().stores == 1
    assert list((cache.path / "temp").iterdir()) == []
