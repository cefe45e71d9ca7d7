"""A run's trace, added up per instruction, delegate and operation of a payload.

The file is in Chrome's trace event format, as ``pteron bench --trace`` writes it: complete events
with ``name``, ``cat`` (``kernel``, ``delegate`` or ``op``), ``ts`` and ``dur`` in microseconds,
and ``args`` with ``method``, ``instruction``, ``delegate`` and ``op`` (name of the operation's
output) as far as they apply.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from pteron.errors import FileAccessError, FormatError

Times = dict[str, list[float]]
"""Place -> [microseconds in all, number of events]."""

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


def add_up(events: Iterable[Mapping[str, Any]], methods: list[str]) -> dict[str, Any]:
    """Times by method and place; an event of no known place goes to ``elsewhere`` by its name.

    Places are ``<instruction>`` for kernels and delegates, ``<delegate>/<op>`` for operations
    inside a payload. An event without a method belongs to the only one there is.
    """
    placed: dict[str, Times] = {name: {} for name in methods}
    elsewhere: Times = {}
    for event, duration in _timed(events):
        arguments = event.get("args")
        arguments = arguments if isinstance(arguments, dict) else {}
        method = arguments.get("method", methods[0] if len(methods) == 1 else None)
        place = _place(event.get("cat"), arguments)
        if place is not None and isinstance(method, str) and method in placed:
            _add(placed[method], place, duration)
        else:
            _add(elsewhere, str(event.get("name", "event without a name")), duration)
    return {"methods": placed, "elsewhere": elsewhere}


def _timed(events: Iterable[Mapping[str, Any]]) -> Iterator[tuple[Mapping[str, Any], float]]:
    for event in events:
        duration = event.get("dur")
        if not isinstance(duration, (int, float)) or event.get("cat") not in _CATEGORIES:
            continue
        if 0 <= duration < _LONGEST:
            yield event, float(duration)


def _place(category: Any, arguments: Mapping[str, Any]) -> str | None:
    instruction, delegate = arguments.get("instruction"), arguments.get("delegate")
    if category == "op":
        name = arguments.get("op")
        return f"{delegate}/{name}" if _index(delegate) and isinstance(name, str) else None
    return str(instruction) if _index(instruction) else None


def _index(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _add(times: Times, place: str, duration: float) -> None:
    total = times.setdefault(place, [0.0, 0])
    total[0] += duration
    total[1] += 1
