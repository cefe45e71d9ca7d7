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
    "openvino": "pteron.engines.openvino:OpenVINOEngine",
    "coreml": "pteron.engines.apple:AppleEngine",
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
    known = _known()
    if name is not None:
        if name not in known:
            raise UsageError(f"there is no engine '{name}'; known: {', '.join(known)}")
        return _taking(backend_id, _make(known[name]))
    preferred = "coreml" if platform.system() == "Darwin" else "openvino"
    order = [preferred, *(n for n in known if n not in _BUILT_IN)]
    for candidate in order:
        engine = _make(known[candidate])
        if backend_id in engine.backends:
            return engine
    raise UnsupportedError(
        f"no engine here executes payloads of '{backend_id}' (looked at: {', '.join(order)})"
    )


def _known() -> dict[str, EntryPoint]:
    """Engines by name; the built-in ones cannot be replaced."""
    plugged = {point.name: point for point in entry_points(group=ENTRY_POINTS)}
    built_in = {n: EntryPoint(n, target, ENTRY_POINTS) for n, target in _BUILT_IN.items()}
    return {**plugged, **built_in}


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
