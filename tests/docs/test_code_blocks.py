"""Every code block of every page runs, and prints what the page says."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest

from pteron.payloads import registry
from tests.conftest import ROOT
from tests.docs.blocks import EVALUATORS, run_page

PAGES = {
    str(path.relative_to(ROOT)): path
    for path in [*sorted((ROOT / "docs").rglob("*.md")), ROOT / "CONTRIBUTING.md"]
}
OPEN = re.compile(r"^ *```+ *(\S+)$", re.MULTILINE)
PLAIN = {"toml", "json", "none"}
"""Languages of blocks that are shown and not run."""


def languages(path: Path) -> set[str]:
    """Languages of the page's code blocks; directives are none."""
    return {name for name in OPEN.findall(path.read_text("utf-8")) if not name.startswith("{")}


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, counter_program: Path) -> Path:
    """A directory with ``examples`` and ``counter.pte``, and a cache of its own."""
    shutil.copy(counter_program, tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setenv("PTERON_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(registry, "_registered", {})  # a page adds a payload reader
    return tmp_path


@pytest.mark.parametrize("page", [p for p in PAGES if languages(PAGES[p]) & set(EVALUATORS)])
def test_blocks(page: str, work: Path) -> None:
    assert run_page(PAGES[page]) > 0


@pytest.mark.parametrize("page", PAGES)
def test_every_block_has_a_language_that_is_known(page: str) -> None:
    assert languages(PAGES[page]) <= {*EVALUATORS, *PLAIN}
