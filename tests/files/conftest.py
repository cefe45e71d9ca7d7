"""Files that ExecuTorch makes, once per test session."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock

from tests.files.made import MAKERS, Made

SLOW = {"core_ml", "core_ml_state", "core_ml_multifunction", "xnnpack_quantised"}
EVERY_KIND = [pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in MAKERS]


@pytest.fixture(scope="session")
def session_directory(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """A directory that all processes of a test session share."""
    base = tmp_path_factory.getbasetemp()
    return base if worker_id == "master" else base.parent


@pytest.fixture(scope="session")
def made(session_directory: Path) -> Callable[[str], Made]:
    """``made("xnnpack")``: a file of that kind, made by ExecuTorch."""

    def get(name: str) -> Made:
        path = session_directory / f"made-{name}.pickle"
        with FileLock(path.with_suffix(".lock")):
            if not path.exists():
                path.write_bytes(pickle.dumps(MAKERS[name]()))
        loaded: Made = pickle.loads(path.read_bytes())
        return loaded

    return get


@pytest.fixture(params=EVERY_KIND)
def made_file(request: pytest.FixtureRequest, made: Callable[[str], Made]) -> Made:
    """A file of every kind in turn."""
    return made(request.param)
