"""Which translator this is: part of the cache key, so that a changed one serves no old models."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from hashlib import blake2b
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

_PACKAGES = ("pteron.engines.openvino", "pteron.payloads.coreml")


@cache
def translator() -> str:
    """Hex digest of the code that turns a payload into an OpenVINO model (a few hundred kB)."""
    digest = blake2b(digest_size=6)
    for package in _PACKAGES:
        for source in sorted(_sources(files(package)), key=lambda source: source.name):
            digest.update(source.name.encode() + b"\0")
            digest.update(source.read_bytes())
    return digest.hexdigest()


def _sources(directory: Traversable) -> Iterator[Traversable]:
    for item in directory.iterdir():
        if item.is_dir():
            yield from _sources(item)
        elif item.name.endswith(".py"):
            yield item
