"""One part of a report that cannot be made does not take the others with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pteron.errors import PteronError


def guarded(collect: Callable[..., Any], *arguments: Any) -> Any:
    """What ``collect`` gives, or ``{"error": why}``, which the page shows in that place."""
    try:
        return collect(*arguments)
    except PteronError as error:
        return {"error": str(error)}
