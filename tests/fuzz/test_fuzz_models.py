"""Some hundred spoilt Core ML models; `make fuzz` tries the rest."""

from __future__ import annotations

from pathlib import Path

from tests.fuzz.model_files import save
from tests.fuzz.models import quick_models
from tests.fuzz.run_models import fuzz_models


def test_nothing_but_pteron_errors(tmp_path: Path) -> None:
    save(quick_models(tmp_path), tmp_path / "models")
    result = fuzz_models(tmp_path / "models", 0, 120)
    assert result.failures == []
    assert result.inputs == 120
    assert result.opened > 10
