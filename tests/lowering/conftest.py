"""What the lowering tests share."""

from __future__ import annotations

import pytest

import examples.silero_vad.model
from examples.silero_vad.data import silero_jit as fetch_silero_jit


@pytest.fixture(scope="session")
def silero_example():
    """The example's ``model`` module, with its published weights at hand."""
    return examples.silero_vad.model


@pytest.fixture(scope="session")
def silero_jit():
    return fetch_silero_jit()
