"""When each instruction of a call began, how long it took, and what took the time inside of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import TypeVar

from pteron.engines.base import OpTime, Profiled, Session

T = TypeVar("T")


@dataclass(frozen=True)
class Place:
    """Where in a program an instruction stands.

    Attributes:
        method: the method, or the function of a package.
        instruction: its index in the plan's chain.
        kind: ``delegate`` or ``kernel``.
        name: the delegate's backend id, or the operator (``aten::add.out``).
        delegate: the delegate's index in the method; None for a kernel.
    """

    method: str
    instruction: int
    kind: str
    name: str
    delegate: int | None = None


@dataclass(frozen=True)
class Span:
    """One instruction that ran.

    Attributes:
        place: which one.
        start: seconds on ``time.perf_counter``'s clock.
        seconds: wall time.
        ops: times inside a delegate, where its engine tells.
    """

    place: Place
    start: float
    seconds: float
    ops: tuple[OpTime, ...] = ()


class Timeline:
    """Collects the spans of a module's calls, in order; give it to :func:`pteron.load`.

    Taking times inside delegates makes calls slower: measure latency without.
    """

    def __init__(self) -> None:
        self.spans: list[Span] = []

    def timed(
        self,
        place: Place,
        function: Callable[..., T],
        op_times: Callable[[], Sequence[OpTime]] = tuple,
    ) -> Callable[..., T]:
        """``function``, leaving a span at every call; ``op_times`` is asked after its end."""

        def call(*args: object) -> T:
            start = perf_counter()
            result = function(*args)
            seconds = perf_counter() - start
            self.spans.append(Span(place, start, seconds, tuple(op_times())))
            return result

        return call


def op_times(session: Session, function: str) -> Sequence[OpTime]:
    """Times inside a session's last call; none where its engine does not tell."""
    return session.op_times(function) if isinstance(session, Profiled) else ()
