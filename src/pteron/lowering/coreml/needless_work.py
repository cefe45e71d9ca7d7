"""What coremltools does again and again for nothing, left out.

Of a large model's conversion (coremltools 9.0) a tenth is the text of the whole program for debug
messages that nobody sees, and a fifth looks, after each of its hundred passes, at every value for
the compressed weights that it comes from, where no weight is compressed.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock


@contextmanager
def without_needless_work() -> Iterator[None]:
    """While open, coremltools converts with the same result, and sooner."""
    from coremltools import _logger

    with ExitStack() as stack:
        stack.enter_context(_propagation_where_it_matters())
        if not _logger.isEnabledFor(logging.DEBUG):
            stack.enter_context(_no_text())
        yield


@contextmanager
def _no_text() -> Iterator[None]:
    """Programs and their functions have no text."""
    from coremltools.converters.mil.mil import Function, Program

    def short(self: Any, *_: object, **__: object) -> str:
        return f"<{type(self).__name__}>"

    with (
        mock.patch.object(Program, "__str__", short),
        mock.patch.object(Function, "__str__", short),
    ):
        yield


@contextmanager
def _propagation_where_it_matters() -> Iterator[None]:
    """Blocks look for values made of compressed weights only once there has been such a weight."""
    from coremltools.converters.mil.mil import Block

    propagate = Block._propagate_nonreplaceable_vars
    seen = False

    def where_it_matters(self: Any) -> None:
        nonlocal seen
        seen = seen or _has_compressed_weights(self)
        if seen:
            propagate(self)

    with mock.patch.object(Block, "_propagate_nonreplaceable_vars", where_it_matters):
        yield


def _has_compressed_weights(block: Any) -> bool:
    return any(
        op.op_type.startswith("constexpr_") or any(map(_has_compressed_weights, op.blocks))
        for op in block.operations
    )
