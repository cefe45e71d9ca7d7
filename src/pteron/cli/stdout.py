"""Stdout that may not take the answer: a full disk, or a reader that left."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from io import RawIOBase, TextIOWrapper
from typing import Any, BinaryIO, TextIO, TypeVar, cast

from pteron.errors import FileAccessError

BROKEN_PIPE = 141
"""What a shell reports for a command that ends of SIGPIPE."""

_Result = TypeVar("_Result")


@contextmanager
def checked_stdout(stream: TextIO) -> Iterator[None]:
    """Print to ``stream`` in this block, and have it all written at its end.

    Raises FileAccessError where it cannot be. That nobody reads the answer any more
    (``pteron ... | head``) ends the command without a word.
    """
    binary = _Checked(stream)
    text = TextIOWrapper(
        cast("BinaryIO", binary), stream.encoding, stream.errors, write_through=True
    )
    with redirect_stdout(text):
        try:
            yield
        finally:
            text.flush()


class _Checked(RawIOBase):
    """A stream's bytes, whose failures to be written are told from all other errors.

    It stands below the text, as click looks there.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return self._stream.isatty()

    def fileno(self) -> int:
        return self._stream.fileno()

    def write(self, data: Any) -> int:
        if not len(data):  # click asks so whether it may write, and drops the answer
            return 0
        return self._guarded(lambda: self._stream.buffer.write(data))

    def flush(self) -> None:
        self._guarded(self._stream.flush)

    def _guarded(self, action: Callable[[], _Result]) -> _Result:
        try:
            return action()
        except BrokenPipeError:
            self._give_up()
            raise SystemExit(BROKEN_PIPE) from None
        except OSError as error:
            self._give_up()
            raise FileAccessError(f"cannot write to stdout: {error.strerror}") from None

    def _give_up(self) -> None:
        """Let what is left in the buffer go nowhere, or Python complains of it on its way out."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._stream.fileno())
        os.close(nowhere)
