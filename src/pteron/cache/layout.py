"""Where everything lies in a cache directory.

::

    version.txt            format version of all the rest
    CACHEDIR.TAG           tells backup programs to leave the directory out
    lock                   held while entries are published, removed or counted
    entries/IDENTIFIER     names the generation that is the entry: the one file that publishes it
    models/GENERATION/     manifest.json, and the compiled files in model/; never changed (until
                           it is published it holds its pointer, too)
    temp/NAME/             work in progress; temp/NAME.lock is locked while its owner lives
    temp/GENERATION.orphan a generation to delete once nobody holds it
    compiling/IDENTIFIER   locked while a process compiles that entry
    usage.json             bytes held by entries, so that a store need not count them
    statistics             hits, misses and so on, over all processes

An entry is replaced by renaming a new ``entries/IDENTIFIER`` over the old one, which every
filesystem does in one step. A reader that found the old generation keeps reading it: it stays
until nobody holds the lock on its manifest.
"""

from __future__ import annotations

import re
import secrets
from pathlib import Path

ORPHAN = ".orphan"
"""Ending of an orphan mark's name; the rest is the generation."""

_GENERATION = re.compile(r"([A-Za-z0-9][A-Za-z0-9_-]{0,127})\.[0-9a-f]{16}", re.ASCII)


class Layout:
    """The paths of one cache directory."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.locks_work = True  # prepare() finds out
        self.version = root / "version.txt"
        self.new_version = root / "version.txt.new"
        self.tag = root / "CACHEDIR.TAG"
        self.new_tag = root / "CACHEDIR.TAG.new"
        self.lock = root / "lock"
        self.entries = root / "entries"
        self.models = root / "models"
        self.temp = root / "temp"
        self.compiling = root / "compiling"
        self.usage = root / "usage.json"
        self.statistics = root / "statistics"

    @property
    def directories(self) -> tuple[Path, ...]:
        """Every directory of the format."""
        return (self.entries, self.models, self.temp, self.compiling)

    @property
    def files(self) -> tuple[Path, ...]:
        """Every file that is made anew when the format changes."""
        return (self.new_version, self.new_tag, self.usage, self.statistics)

    def generation(self, name: str) -> Path:
        """Directory of one generation. Raises ValueError unless it lies in ``models/``."""
        if name in ("", ".", "..") or "/" in name:
            raise ValueError(f"{name!r} is no generation")
        return self.models / name

    def orphan_mark(self, generation: str) -> Path:
        """Tells sweeps to delete a generation that was held when it should have been deleted."""
        return self.temp / f"{generation}{ORPHAN}"


def new_generation(identifier: str) -> str:
    """A name for a new generation of an entry, unlike all others."""
    return f"{identifier}.{secrets.token_hex(8)}"


def identifier_of(generation: str) -> str | None:
    """The entry a generation belongs to, or None if this is no generation's name."""
    match = _GENERATION.fullmatch(generation)
    return match.group(1) if match else None
