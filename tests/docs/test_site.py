"""The site builds without a warning, knows every public name, loads nothing from elsewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from sphinx.util.inventory import InventoryFile

from tests.conftest import ROOT

PUBLIC = (
    "pteron",
    *(
        f"pteron.{room}"
        for room in (
            "bench",
            "cache",
            "cache.remote",
            "coreml",
            "edit",
            "engines",
            "files",
            "lowering",
            "payloads",
            "report",
            "runtime",
        )
    ),
)
NOT_NAMES = {"bench", "cache", "coreml", "edit", "progress"}
"""Packages that ``pteron`` has as attributes; they have pages of their own."""
LOADED = re.compile(
    r"<(?:script|img|iframe|source)\b[^>]*\bsrc=\"(?P<src>[^\"]*)\"|"
    r"<link\b[^>]*\bhref=\"(?P<href>[^\"]*)\""
)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(2400)]  # SmolLM2's notebook lowers it


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site as ``make docs`` builds it, notebooks executed."""
    out = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-q", "-W", "--keep-going"]
    result = subprocess.run(
        [*command, str(ROOT / "docs"), str(out)], capture_output=True, text=True, cwd=ROOT
    )
    assert result.returncode == 0, result.stderr
    return out


def test_every_public_name_is_described(site: Path) -> None:
    inventory = InventoryFile.loads((site / "objects.inv").read_bytes(), uri="")
    described = {
        name for kind in inventory.data if kind.startswith("py:") for name in inventory.data[kind]
    }
    leaf = {name.rsplit(".", 1)[-1] for name in described}
    for module in PUBLIC:
        names = set(import_module(module).__all__) - NOT_NAMES
        assert names <= leaf, f"{module}: {sorted(names - leaf)}"


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 30
    for page in pages:
        for match in LOADED.finditer(page.read_text("utf-8")):
            target = match["src"] or match["href"]
            assert not re.match(r"(https?:)?//", target), f"{page.name} loads {target}"


def test_notebooks_were_executed(site: Path) -> None:
    speech = (site / "notebooks" / "silero_vad.html").read_text("utf-8")
    assert "every read and write is in delegate 0" in speech
    chat = (site / "notebooks" / "smollm2.html").read_text("utf-8")
    assert "The capital of France is Paris." in chat
