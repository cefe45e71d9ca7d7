"""What an entry's identifier may look like, checked by every operation of every cache."""

from __future__ import annotations

import re

from pteron.errors import CacheError, CacheErrorCode

_VALID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}", re.ASCII)


def is_valid(name: str) -> bool:
    """Whether a name can be an entry's identifier."""
    return _VALID.fullmatch(name) is not None


def check_identifier(identifier: str) -> str:
    """Return the identifier; it becomes a file name and part of an object's key.

    Valid are 1 to 128 ASCII letters, digits, ``-`` and ``_``, the first a letter or digit.

    Raises:
        CacheError: INVALID_IDENTIFIER for anything else.
    """
    if not isinstance(identifier, str) or not is_valid(identifier):
        raise CacheError(
            CacheErrorCode.INVALID_IDENTIFIER,
            f"{identifier!r:.200} is not 1 to 128 ASCII letters, digits, '-' or '_', "
            "the first a letter or digit",
        )
    return identifier
