"""Which directories hold a Core ML model."""

from __future__ import annotations

from pathlib import Path

_PACKAGE, _COMPILED = "Manifest.json", "coremldata.bin"


def is_package(path: Path) -> bool:
    """Whether a path is a Core ML package, or the directory of a compiled model, by content."""
    return any((path / name).is_file() for name in (_PACKAGE, _COMPILED))
