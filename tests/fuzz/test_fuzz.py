"""Some thousand inputs of the fuzzer; `make fuzz` runs the rest."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.fuzz.run import fuzz
from tests.fuzz.seeds import FORMATS, seeds

CORPUS = Path(os.environ.get("PTERON_CORPUS", "../shared/corpus"))


@pytest.mark.parametrize("kind", FORMATS)
def test_nothing_but_pteron_errors(kind: str) -> None:
    result = fuzz(seeds(kind, CORPUS), 0, 1500)
    assert result.failures == []
    assert result.opened > 200
