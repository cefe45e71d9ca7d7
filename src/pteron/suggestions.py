"""What an error about a name that does not exist says besides: what was meant, what there is."""

from __future__ import annotations

from collections.abc import Collection

MOST = 12
"""Names that are listed; the rest is counted."""


def meant(name: str, known: Collection[str]) -> str:
    """``" (did you mean 'forward'?)"`` where a known name is near, else an empty string."""
    from difflib import get_close_matches

    near = get_close_matches(name, known, n=1)
    return f" (did you mean {near[0]!r}?)" if near and near[0] != name else ""


def listed(names: Collection[str]) -> str:
    """The names with commas between, of a long list the first and a count; ``none`` without any."""
    shown = ", ".join(list(names)[:MOST])
    rest = len(names) - MOST
    return f"{shown} and {rest} more" if rest > 0 else shown or "none"
