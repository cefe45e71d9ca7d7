"""Which translator this is: part of the cache key, so that a changed one serves no old models."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from hashlib import blake2b
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

_PACKAGES = ("pteron.engines", "pteron.payloads")


@cache
def translator() -> str:
    """Hex digest of the code that turns a payload into an OpenVINO model (a few hundred kB)."""
    digest = blake2b(digest_size=6)
    for package in _PACKAGES:
        for path, source in sorted(_sources(files(package), package), key=lambda found: found[0]):
            digest.update(path.encode() + b"\0")
            digest.update(source.read_bytes())
    return digest.hexdigest()


def _sources(directory: Traversable, path: str) -> Iterator[tuple[str, Traversable]]:
    """(path from the package on, file) of every Python source below a directory."""
    for item in directory.iterdir():
        below = f"{path}/{item.name}"
        if item.is_dir():
            yield from _sources(item, below)
        elif item.name.endswith(".py"):
            yield below, item
