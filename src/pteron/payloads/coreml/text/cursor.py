"""A place in the text of a program: the token under it, and what may come next."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pteron.errors import FormatError

MAX_DEPTH = 64
"""How deep types, values and blocks may lie in one another."""

_TOKEN = re.compile(
    r"""
    \s*(?:
      (?P<string>"(?:[^"\\]|\\.)*")
    | (?P<number>-?(?:0x[0-9a-f]*\.?[0-9a-f]*(?:p[+-]?\d+)?|\d+\.?\d*(?:e[+-]?\d+)?)|-(?:inf|nan)\b)
    | (?P<name>[a-z_][a-z0-9_@.]*)
    | (?P<mark>->|[\[\](){}<>,=;?])
    | (?P<end>\Z)
    | (?P<other>.)
    )
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


class Cursor:
    """Reads a text token by token.

    Attributes:
        kind: of the token under the cursor: ``string``, ``number``, ``name``, ``mark`` or ``end``.
        text: that token as it is written.
    """

    def __init__(self, text: str, where: str) -> None:
        self._source = text
        self._where = where
        self._position = 0
        self._depth = 0
        self.kind = self.text = ""
        self.advance()

    def advance(self) -> str:
        """Step to the next token, and give the text of the one just left."""
        left = self.text
        match = _TOKEN.match(self._source, self._position)
        assert match is not None and match.lastgroup is not None
        self.kind, self.text = match.lastgroup, match[match.lastgroup]
        self._position = match.end()
        if self.kind == "other":
            raise self.fault(f"{self.text!r} is no part of a program")
        return left

    def accept(self, text: str) -> bool:
        """Step over the mark or name ``text`` if it is next."""
        if self.text != text or self.kind == "string":
            return False
        self.advance()
        return True

    def expect(self, text: str) -> None:
        """Step over ``text``; FormatError if something else comes."""
        if not self.accept(text):
            raise self.fault(f"expected {text!r}, found {self._found()}")

    def take(self, kind: str) -> str:
        """Step over a token of this kind and give its text; FormatError if another comes."""
        if self.kind != kind:
            raise self.fault(f"expected a {kind}, found {self._found()}")
        return self.advance()

    def take_string(self) -> str:
        """Step over a string and give what it says."""
        return re.sub(r"\\(.)", _unescaped, self.take("string")[1:-1], flags=re.DOTALL)

    def take_size(self) -> int:
        """Step over a whole number from 0 up."""
        text = self.take("number")
        if not text.isdecimal() or len(text) > 19:
            raise self.fault(f"{text:.40} is no size")
        return int(text)

    def separated(self, item: Callable[[Cursor], object], close: str) -> None:
        """Items with commas between them, up to and over ``close``."""
        if self.accept(close):
            return
        item(self)
        while self.accept(","):
            item(self)
        self.expect(close)

    @contextmanager
    def nested(self) -> Iterator[None]:
        """One level deeper; FormatError where a text is nested absurdly."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise self.fault(f"nested more than {MAX_DEPTH} deep")
        yield
        self._depth -= 1

    def fault(self, problem: str) -> FormatError:
        """An error at the token under the cursor."""
        line = self._source.count("\n", 0, self._position) + 1
        return FormatError(problem, where=f"{self._where}, line {line}")

    def _found(self) -> str:
        return "the end" if self.kind == "end" else repr(self.text[:40])


def _unescaped(match: re.Match[str]) -> str:
    return _ESCAPES.get(match[1], match[1])
