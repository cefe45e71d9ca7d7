"""The translator's fingerprint: the same for the same code, wherever and however it lies."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import pteron

SOURCE = Path(pteron.__file__).parent
CODE = "from pteron.engines.openvino.fingerprint import translator; print(translator())"


def fingerprint(root: Path) -> str:
    """What a fresh interpreter says of the package below ``root``."""
    return subprocess.run(
        [sys.executable, "-c", CODE],
        env={"PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The package, copied in reverse order of names."""
    files = [p for p in SOURCE.rglob("*") if p.suffix in (".py", ".pyi") and p.is_file()]
    for file in sorted(files, reverse=True):
        target = tmp_path / "pteron" / file.relative_to(SOURCE)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)
    return tmp_path


def test_it_does_not_depend_on_the_directory(copy: Path) -> None:
    assert fingerprint(copy) == fingerprint(SOURCE.parent)


@pytest.mark.parametrize(
    "path", ["engines/openvino/ops/conv.py", "engines/description.py", "payloads/packed.py"]
)
def test_code_that_changes_a_model_changes_it(copy: Path, path: str) -> None:
    before = fingerprint(copy)
    with (copy / "pteron" / path).open("a") as file:
        file.write("# changed\n")
    assert fingerprint(copy) != before
