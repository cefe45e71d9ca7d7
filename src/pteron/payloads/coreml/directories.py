"""Which directories hold a Core ML model."""

from __future__ import annotations

from pathlib import Path

MARKS = {".mlpackage": "Manifest.json", ".mlmodelc": "coremldata.bin"}
"""The file by which a directory is a model, by the name's ending; the ending itself may differ."""


def is_package(path: Path) -> bool:
    """Whether a path is a Core ML package, or the directory of a compiled model, by content."""
    return any((path / name).is_file() for name in MARKS.values())
