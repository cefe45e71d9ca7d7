"""Every attack in ``attacks/`` gives the error that it must give."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.conftest import ROOT

HELPERS = {"flat.py", "hold.py", "segments.py"}
SCRIPTS = sorted(p for p in (ROOT / "attacks").glob("*.py") if p.name not in HELPERS)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_attack_is_held(script: object) -> None:
    run = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, timeout=60, check=False
    )
    assert run.returncode == 0, run.stderr


def test_there_are_attacks() -> None:
    assert len(SCRIPTS) >= 8
