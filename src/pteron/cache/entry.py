"""A compiled model that was found in a cache, or put there."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from pteron.cache.manifest import Manifest, damage


class Hold:
    """Calls ``release`` once every holder has let go."""

    def __init__(self, release: Callable[[], None]) -> None:
        self._release = release
        self._holders = 0
        self._guard = threading.Lock()

    def take(self) -> Callable[[], None]:
        """Hold too; returns what lets go."""
        with self._guard:
            self._holders += 1
        return self._let_go

    def _let_go(self) -> None:
        with self._guard:
            self._holders -= 1
            last = self._holders == 0
        if last:
            self._release()


class Entry:
    """A compiled model on disk, which stays there while this object lives.

    Attributes:
        manifest: what is known of the entry.
        hit: whether it was there already; False if it was compiled or stored just now.
    """

    def __init__(
        self,
        path: str | Path,
        manifest: Manifest,
        *,
        hit: bool,
        release: Callable[[], None] | Hold,
        condemn: Callable[[str], bool],
    ) -> None:
        """Made by caches: ``release`` ends the hold, ``condemn`` takes the entry out of them."""
        self._path = path
        self.manifest = manifest
        self.hit = hit
        self._condemn = condemn
        self._hold = release if isinstance(release, Hold) else Hold(release)
        self._let_go = weakref.finalize(self, self._hold.take())

    @property
    def path(self) -> Path:
        """Directory of the compiled files. Never write to it."""
        return Path(self._path)

    @property
    def identifier(self) -> str:
        """The entry's identifier."""
        return self.manifest.identifier

    def damage(self) -> str | None:
        """Compare every byte with the digests; None if they agree, else what is wrong."""
        return damage(self.manifest, self.path)

    def condemn(self, reason: str) -> bool:
        """Remove this entry from its cache as broken, unless it was replaced in the meantime.

        False if it can still be found: the cache is read-only.
        """
        return self._condemn(reason)

    def again(self, *, hit: bool, condemn: Callable[[str], bool] | None = None) -> Entry:
        """Another entry of the same files, which are held until both are closed."""
        return Entry(
            self._path,
            self.manifest,
            hit=hit,
            release=self._hold,
            condemn=condemn or self._condemn,
        )

    def close(self) -> None:
        """Let the cache evict or remove the entry from now on. A second call does nothing."""
        self._let_go()

    def __enter__(self) -> Entry:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
