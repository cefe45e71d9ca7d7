"""Finds entries for a cache directory, and takes broken ones out of it."""

from __future__ import annotations

import logging

from pteron.cache import publish, reader
from pteron.cache.entry import Entry
from pteron.cache.failures import io_errors, translated
from pteron.cache.opened import OpenedDirectory
from pteron.cache.reader import BrokenEntryError, Found
from pteron.cache.statistics import Statistics

logger = logging.getLogger("pteron.cache")


class Finder:
    """Looks entries up in one cache directory."""

    def __init__(self, opened: OpenedDirectory) -> None:
        self._opened = opened

    def find(self, identifier: str, *, verify: bool) -> Entry | None:
        """The entry, or None if there is none or it is broken: a broken one is removed.

        Names and sizes of its files are checked; with ``verify``, every byte.
        """
        try:
            found = self._look_up(identifier, use=True)
        except BrokenEntryError as error:
            self._recover(identifier, error.generation, str(error))
            return None
        entry = self.entry(found, hit=True) if found else None
        if entry and verify and self._check(entry):
            return None
        return entry

    def verify(self, identifier: str) -> tuple[bool, str | None]:
        """Whether there is an entry, and what is wrong with it; a broken one is removed."""
        try:
            found = self._look_up(identifier, use=False)
        except BrokenEntryError as error:
            self._recover(identifier, error.generation, str(error))
            return True, str(error)
        if found is None:
            return False, None
        with self.entry(found, hit=True) as entry:
            return True, self._check(entry)

    def entry(self, found: Found, *, hit: bool) -> Entry:
        """An entry for users of the cache, of one that is held already."""

        def condemn(reason: str) -> bool:
            return self._recover(found.manifest.identifier, found.generation, reason)

        path = f"{self._opened.to_read().models}/{found.generation}/model"
        return Entry(path, found.manifest, hit=hit, release=found.close, condemn=condemn)

    def _look_up(self, identifier: str, *, use: bool) -> Found | None:
        layout = self._opened.to_read()
        try:
            return reader.lookup(layout, identifier, use=use)
        except OSError as error:
            raise translated(error, f"look up {identifier} in {self._opened.path}") from error

    def _check(self, entry: Entry) -> str | None:
        problem = entry.damage()
        if problem:
            entry.close()
            entry.condemn(problem)
        return problem

    def _recover(self, identifier: str, generation: str | None, reason: str) -> bool:
        """Remove a broken entry, so that it is compiled anew; False if that is not allowed."""
        path = self._opened.path
        logger.warning("the compiled model %s in %s is broken: %s", identifier, path, reason)
        if not self._opened.is_writable:
            return False
        with io_errors(f"remove {identifier} from {path}"):
            removed = publish.unpublish(
                self._opened.to_write(), identifier, lambda current: current == generation
            )
        self._opened.count(Statistics(recoveries=int(removed)))
        return True
