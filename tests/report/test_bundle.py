"""The committed script and style are what their sources give."""

from __future__ import annotations

import shutil
import subprocess
from importlib.resources import files
from pathlib import Path

import pytest

WEB = Path(__file__).resolve().parents[2] / "web"


@pytest.fixture(scope="module")
def node() -> str:
    path = shutil.which("node")
    if path is None or not (WEB / "node_modules").is_dir():
        pytest.skip("no node, or its modules are not installed (npm ci in web/)")
    return path


def test_the_bundle_is_fresh(node, tmp_path):
    subprocess.run([node, WEB / "build.mjs", tmp_path], check=True, timeout=300)
    committed = files("pteron.report") / "assets"
    for built in sorted(tmp_path.iterdir()):
        held = committed.joinpath(built.name).read_bytes()
        assert built.read_bytes() == held, f"{built.name} is stale: run make web"


@pytest.mark.slow
def test_types_are_right(node):
    compiler = WEB / "node_modules" / ".bin" / "tsc"
    done = subprocess.run(
        [compiler, "--noEmit"], cwd=WEB, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout


def test_the_lockfile_names_no_host():
    lock = (WEB / "package-lock.json").read_text()
    assert "://" not in lock.replace("https://opencollective.com", "").replace(
        "https://github.com/sponsors", ""
    )
