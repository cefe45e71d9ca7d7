"""Where the time of a method can go: its instructions, and operations inside its delegates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeGuard

_OUTSIDE = ("kernel", "delegate")


class Places:
    """The places of one collected method, as its views name them.

    ``<instruction>`` for kernels and delegates, ``<delegate>/<op>`` for operations. What is inside
    a delegate that has no graph is taken at its word.
    """

    def __init__(self, method: Mapping[str, Any]) -> None:
        self._kinds = [step[0] for step in method["run"].get("steps", ())]
        self._insides = [_outputs(delegate) for delegate in method["delegates"]]

    def find(self, category: str, arguments: Mapping[str, Any]) -> str | None:
        """The place of an event, or None where the method has nothing of that kind there."""
        instruction, delegate = arguments.get("instruction"), arguments.get("delegate")
        if category in _OUTSIDE:
            known = _index(instruction, self._kinds) and self._kinds[instruction] == category
            return str(instruction) if known else None
        if not _index(delegate, self._insides) or not isinstance(name := arguments.get("op"), str):
            return None
        inside = self._insides[delegate]
        return f"{delegate}/{name}" if inside is None or name in inside else None


def _outputs(delegate: Mapping[str, Any]) -> frozenset[str] | None:
    if "functions" not in delegate:
        return None
    operations = [op for function in delegate["functions"] for op in function["ops"]]
    return frozenset(name for op in operations for name in op["n"])


def _index(value: Any, known: list[Any]) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(known)
