"""JSON out of untrusted bytes: small, without duplicate keys, and never another exception."""

from __future__ import annotations

import json
from typing import Any

from pteron.errors import FormatError

LIMIT = 1 << 20
"""Largest JSON text read, in bytes: far more than a package has, and it bounds memory."""


def parse_object(text: bytes, where: str) -> dict[str, Any]:
    """The JSON object in UTF-8 ``text``. Raises FormatError for anything else."""
    value = parse(text, where)
    if not isinstance(value, dict):
        raise FormatError("not a JSON object", where=where)
    return value


def parse(text: bytes, where: str) -> Any:
    """The JSON value in UTF-8 ``text``. Raises FormatError, naming ``where``, if it is none."""
    if len(text) > LIMIT:
        raise FormatError(f"{len(text)} bytes of JSON, more than {LIMIT}", where=where)
    try:
        return json.loads(text.decode("utf-8"), object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:  # UnicodeDecodeError is a ValueError
        raise FormatError(f"not valid JSON: {error}", where=where) from error


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("a key appears twice in one object")
    return result


def string(value: Any, where: str) -> str:
    """``value`` if it is text that UTF-8 can hold (JSON can spell lone surrogates)."""
    if not isinstance(value, str):
        raise FormatError(f"expected a string, found {type(value).__name__}", where=where)
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise FormatError("text with a lone surrogate", where=where) from None
    return value


def strings(value: Any, where: str) -> tuple[str, ...]:
    """``value`` as a tuple if it is a list of strings."""
    if not isinstance(value, list):
        raise FormatError(f"expected a list, found {type(value).__name__}", where=where)
    return tuple(string(item, f"{where}[{i}]") for i, item in enumerate(value))


def count(value: Any, where: str) -> int:
    """``value`` if it is a whole number of at least 0."""
    if type(value) is not int or value < 0:
        raise FormatError(f"expected a whole number from 0 up, found {value!r:.40}", where=where)
    return value


def mapping(value: Any, where: str) -> dict[str, Any]:
    """``value`` if it is an object."""
    if not isinstance(value, dict):
        raise FormatError(f"expected an object, found {type(value).__name__}", where=where)
    return value
