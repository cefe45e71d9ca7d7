"""Two states that get the same value, past a pass of coremltools that trips over them.

``canonicalize_inplace_pattern`` (coremltools 9.0) moves each update of a state to just behind the
operation that computes its value, and finds that place in a list made before anything was moved.
For a second update of the same value, what the list has there is gone.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock


class _Operations:
    """The part of a list that the pass uses, of a block's operations as they are now."""

    def __init__(self, block: Any) -> None:
        self._block = block

    def index(self, op: Any) -> int:
        return list(self._block.operations).index(op)

    def __getitem__(self, position: int) -> Any:
        return list(self._block.operations)[position]


@contextmanager
def in_current_order() -> Iterator[None]:
    """While open, the pass looks at the operations as they are."""
    from coremltools.converters.mil.mil.passes.defs import optimize_state

    the_pass = optimize_state.canonicalize_inplace_pattern
    transform = the_pass._try_match_and_transform_pattern

    def current(self: Any, op: Any, block: Any, _: Any) -> None:
        transform(self, op, block, _Operations(block))

    with mock.patch.object(the_pass, "_try_match_and_transform_pattern", current):
        yield
