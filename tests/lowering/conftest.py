"""What the lowering tests share."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "silero_vad"


@pytest.fixture(scope="session")
def silero_example():
    """The example's ``model`` module, with its published weights at hand."""
    sys.path.insert(0, str(EXAMPLE))
    try:
        import model
    finally:
        sys.path.remove(str(EXAMPLE))
    return model


@pytest.fixture(scope="session")
def silero_jit(silero_example):
    sys.path.insert(0, str(EXAMPLE))
    try:
        import data
    finally:
        sys.path.remove(str(EXAMPLE))
    return data.silero_jit()
