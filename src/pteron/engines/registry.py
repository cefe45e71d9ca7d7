"""Which engine executes a backend's payloads here. Engines are imported when they are chosen."""

from __future__ import annotations

import platform
from importlib.metadata import EntryPoint, entry_points

from pteron.engines.base import Engine
from pteron.errors import UnsupportedError, UsageError

ENTRY_POINTS = "pteron.engines"
"""Entry-point group through which other packages add engines: name -> a class made without
arguments that follows :class:`pteron.engines.base.Engine`."""

_BUILT_IN = {
    name: EntryPoint(name, target, ENTRY_POINTS)
    for name, target in {
        "openvino": "pteron.engines.openvino:OpenVINOEngine",
        "coreml": "pteron.engines.apple:AppleEngine",
    }.items()
}


def select(backend_id: str, name: str | None = None) -> Engine:
    """The engine for a backend's payloads.

    Args:
        backend_id: the delegate's backend id (``CoreMLBackend``).
        name: the engine's name; ``None`` takes this platform's: ``coreml`` on macOS, else
            ``openvino``, else whichever installed engine takes the backend.

    Raises:
        UsageError: no engine of that name is known.
        UnsupportedError: the engine does not take this backend, or cannot run here.
    """
    if name is not None:
        return _taking(backend_id, _make(_named(name)))
    preferred = "coreml" if platform.system() == "Darwin" else "openvino"
    looked_at = [preferred]
    if backend_id in (engine := _make(_BUILT_IN[preferred])).backends:
        return engine
    for point in _plugged():  # looked for last: that takes some ten milliseconds
        if backend_id in (engine := _make(point)).backends:
            return engine
        looked_at.append(point.name)
    raise UnsupportedError(
        f"no engine here executes payloads of '{backend_id}' (looked at: {', '.join(looked_at)})"
    )


def _named(name: str) -> EntryPoint:
    """The engine of a name; the built-in ones cannot be replaced."""
    known = {point.name: point for point in _plugged()} | _BUILT_IN
    if name not in known:
        raise UsageError(f"there is no engine '{name}'; known: {', '.join(known)}")
    return known[name]


def _plugged() -> list[EntryPoint]:
    """Engines of other packages."""
    return [point for point in entry_points(group=ENTRY_POINTS) if point.name not in _BUILT_IN]


def _make(point: EntryPoint) -> Engine:
    engine: Engine = point.load()()
    return engine


def _taking(backend_id: str, engine: Engine) -> Engine:
    if backend_id not in engine.backends:
        takes = ", ".join(sorted(engine.backends))
        raise UnsupportedError(
            f"engine '{engine.name}' executes payloads of {takes}, not of '{backend_id}'"
        )
    return engine
