"""Which session of its payload each delegate of a stream runs in."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pteron.engines.base import Session
    from pteron.runtime.delegates import PreparedDelegate


class Sessions:
    """One session for each delegate; one in all for those of a package that share their state."""

    def __init__(self) -> None:
        self._shared: dict[int, Session] = {}
        self._listed: set[tuple[int, str]] = set()

    def of(self, delegate: PreparedDelegate) -> Session:
        """A new session, or the one that the delegate shares."""
        if not delegate.shares_state:
            return delegate.compiled.new_session()
        key = id(delegate.compiled)
        if key not in self._shared:
            self._shared[key] = delegate.compiled.new_session()
        return self._shared[key]

    def is_new(self, session: Session, state: str) -> bool:
        """Whether a session's state has not been asked about before."""
        known = (id(session), state) in self._listed
        self._listed.add((id(session), state))
        return not known
