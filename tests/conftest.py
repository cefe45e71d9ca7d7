"""Fixtures shared by every room's tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# The same examples every time; `make fuzz` is where new ones are looked for.
settings.register_profile("steady", derandomize=True, deadline=None)
settings.load_profile("steady")

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def corpus() -> Path:
    """Directory of program files that others made; absent on a user's machine."""
    path = Path(os.environ.get("PTERON_CORPUS", ROOT.parent / "shared" / "corpus"))
    if not path.is_dir():
        pytest.skip(f"no corpus of foreign files at {path} (set PTERON_CORPUS to point at one)")
    return path


@pytest.fixture(scope="session")
def counter_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small delegated program with one delegate-owned state, made by pteron itself."""
    import pteron
    from examples.counter import build

    path = tmp_path_factory.mktemp("counter") / "counter.pte"
    model, inputs = build()
    pteron.lower(model, inputs).save(path)
    return path
