"""Keeps the libraries underneath from talking over pteron's own messages."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

_LOG = logging.getLogger("pteron")


@contextmanager
def quiet() -> Iterator[None]:
    """Silence warnings and log records, unless pteron itself is verbose.

    ERROR records go too: torch logs the traceback of an error that it then raises.
    """
    if _LOG.isEnabledFor(logging.INFO):
        yield
        return
    before = logging.root.manager.disable
    logging.disable(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)
