"""Keeps the libraries underneath from talking over pteron's own messages."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

_LOG = logging.getLogger("pteron")


@contextmanager
def quiet() -> Iterator[None]:
    """Silence warnings and log records below ERROR, unless pteron itself is verbose."""
    if _LOG.isEnabledFor(logging.INFO):
        yield
        return
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)
