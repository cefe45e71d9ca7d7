"""Which operation coremltools was at when one of its passes failed."""

from __future__ import annotations

import traceback

from pteron.lowering.source import line_in


def line_at_hand(error: Exception) -> str:
    """The model's line of the MIL operation in the innermost call that has one, or ``""``.

    coremltools keeps torch's stack with each operation that it made (``EXIR_STACK_TRACE``).
    """
    from coremltools.converters.mil.mil import Operation
    from coremltools.converters.mil.mil.scope import ScopeSource

    calls = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    for frame in reversed(calls):
        for value in list(frame.f_locals.values()):
            if isinstance(value, Operation):
                stacks = value.scopes.get(ScopeSource.EXIR_STACK_TRACE) or [None]
                if line := line_in(stacks[-1] or ""):
                    return line
    return ""
