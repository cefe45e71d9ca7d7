"""Killing processes that work on a cache leaves every entry whole. `make soak` does it longer."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_killed_processes_leave_whole_entries() -> None:
    seed = random.randrange(1 << 30)
    command = [sys.executable, "-m", "tests.cache.crash", "--kills", "48", "--seed", str(seed)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    print(done.stdout)
    assert done.returncode == 0, f"seed {seed}\n{done.stdout}{done.stderr[-4000:]}"
    assert "48 kills at random" in done.stdout
