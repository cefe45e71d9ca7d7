"""Models as their files by path, and where one process leaves them for another."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

Files = dict[str, bytes]


def save(models: Iterable[Files], directory: Path) -> None:
    """Leave models where another process reads them; see :func:`saved`."""
    for index, files in enumerate(models):
        for path, data in files.items():
            place = directory / f"{index:02}" / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)


def saved(directory: Path) -> list[Files]:
    """The models in a directory, in order."""
    return [_read(root) for root in sorted(directory.iterdir())]


def _read(root: Path) -> Files:
    paths = sorted(path for path in root.rglob("*") if path.is_file())
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in paths}
