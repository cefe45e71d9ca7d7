"""Hold an attack to the error that it must give."""

from __future__ import annotations

import time
from collections.abc import Callable

from pteron.errors import PteronError

MOST_SECONDS = 2.0


def hold(attack: Callable[[], object], expected: str) -> None:
    """Run ``attack``; it must raise a PteronError that says ``expected``, and soon."""
    begun = time.perf_counter()
    try:
        attack()
    except PteronError as error:
        message = str(error)
    else:
        raise SystemExit("the attack was not noticed")
    seconds = time.perf_counter() - begun
    if expected not in message:
        raise SystemExit(f"expected an error that says {expected!r}, got: {message}")
    if seconds > MOST_SECONDS:
        raise SystemExit(f"took {seconds:.1f} s")
    print(message)
