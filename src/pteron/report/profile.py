"""A run's trace, added up per instruction, delegate and operation of a payload.

The file is in Chrome's trace event format, as ``pteron bench --trace`` writes it: complete events
with ``name``, ``cat`` (``kernel``, ``delegate`` or ``op``), ``ts`` and ``dur`` in microseconds,
and ``args`` with ``method``, ``instruction``, ``delegate`` and ``op`` (name of the operation's
output) as far as they apply.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pteron.errors import FileAccessError, FormatError
from pteron.report.places import Places

Times = dict[str, list[float]]
"""Place -> [microseconds in all, number of runs]."""

_CATEGORIES = ("kernel", "delegate", "op")
_LONGEST = 1e15
"""Microseconds that no event takes; 31 years."""


def read_profile(path: str | os.PathLike[str]) -> list[Mapping[str, Any]]:
    """The events of a trace file.

    Raises FileAccessError where it cannot be read, FormatError where it is no such file.
    """
    try:
        text = Path(path).read_bytes()
    except OSError as error:
        raise FileAccessError(f"{os.fspath(path)}: {error.strerror or error}") from error
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{os.fspath(path)}: is not JSON: {error}") from None
    events = content.get("traceEvents") if isinstance(content, dict) else content
    if not isinstance(events, list):
        raise FormatError(
            f"{os.fspath(path)}: has no list of trace events; 'pteron bench --trace' writes one"
        )
    return [event for event in events if isinstance(event, dict)]


def add_up(
    events: Iterable[Mapping[str, Any]], methods: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Times by method and :class:`~pteron.report.places.Places`; the rest by name, ``elsewhere``.

    An event without a method belongs to the only one there is. Operations are counted as often as
    their delegate was called: engines leave out those that took no time, and time apart the
    pieces of one. ``methods`` are those that the report has collected.
    """
    known = {method["name"]: Places(method) for method in methods}
    placed: dict[str, Times] = {name: {} for name in known}
    elsewhere: Times = {}
    calls: dict[str, Counter[Any]] = {name: Counter() for name in known}
    for event, duration in _timed(events):
        arguments = event.get("args")
        arguments = arguments if isinstance(arguments, dict) else {}
        method = _method(arguments, known)
        place = None if method is None else known[method].find(event["cat"], arguments)
        if method is None or place is None:
            _add(elsewhere, str(event.get("name", "event without a name")), duration)
            continue
        _add(placed[method], place, duration)
        if event["cat"] == "delegate":
            calls[method][str(arguments.get("delegate"))] += 1
    for method, times in placed.items():
        _count_calls(times, calls[method])
    return {"methods": placed, "elsewhere": elsewhere}


def _method(arguments: Mapping[str, Any], known: Mapping[str, Places]) -> str | None:
    name = arguments.get("method", next(iter(known)) if len(known) == 1 else None)
    return name if isinstance(name, str) and name in known else None


def _count_calls(times: Times, calls: Mapping[str, int]) -> None:
    for place, total in times.items():
        delegate, inside, _ = place.partition("/")
        if inside and delegate in calls:
            total[1] = calls[delegate]


def _timed(events: Iterable[Mapping[str, Any]]) -> Iterator[tuple[Mapping[str, Any], float]]:
    for event in events:
        duration = event.get("dur")
        if not isinstance(duration, (int, float)) or event.get("cat") not in _CATEGORIES:
            continue
        if 0 <= duration < _LONGEST:
            yield event, float(duration)


def _add(times: Times, place: str, duration: float) -> None:
    total = times.setdefault(place, [0.0, 0])
    total[0] += duration
    total[1] += 1
