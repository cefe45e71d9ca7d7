"""File names for what a program calls by any name at all."""

from __future__ import annotations

import re


class FileNames:
    """Gives out names that are safe on every file system, each one once, whatever the letter case.

    A name of letters, digits, ``.``, ``_`` and ``-`` stays as it is; other characters become ``_``.
    """

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def unique(self, name: str) -> str:
        """A file name for ``name``, without an ending."""
        safe = re.sub(r"[^A-Za-z0-9._-]", "_", name)[:100].lstrip(".-") or "unnamed"
        candidate, number = safe, 2
        while candidate.lower() in self._taken:
            candidate, number = f"{safe}~{number}", number + 1
        self._taken.add(candidate.lower())
        return candidate
