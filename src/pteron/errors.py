"""The one family of errors that pteron raises.

Every error a caller can cause (a bad file, a bad argument, a model that cannot be lowered) is a
:class:`PteronError`. Its message is one sentence that says what is wrong, where, and what to do.
"""

from __future__ import annotations

from enum import Enum


class PteronError(Exception):
    """Base class of every error that pteron raises on purpose."""


class FileAccessError(PteronError, OSError):
    """A path is missing, is a directory, or cannot be read or written."""


class FormatError(PteronError, ValueError):
    """Bytes that are not what their format says they are.

    Attributes:
        where: path of the field that is wrong (``execution_plan[0].values[3]``), or ``""``.
        offset: byte offset in the file where the fault was seen, or ``None``.
    """

    def __init__(self, message: str, *, where: str = "", offset: int | None = None) -> None:
        self.where = where
        self.offset = offset
        self.problem = message
        place = f"{where}: " if where else ""
        at = f" (at byte {offset})" if offset is not None else ""
        super().__init__(f"{place}{message}{at}")


class UnsupportedError(PteronError):
    """A valid request or file that pteron, or this machine, cannot serve."""


class UsageError(PteronError, ValueError):
    """An argument of the caller is wrong: its name, count, dtype, shape or range."""


class StateError(PteronError):
    """A state that does not exist, or a value that does not fit it."""


class EngineError(PteronError, RuntimeError):
    """An engine could not compile or execute a payload.

    Attributes:
        function: the payload's function in which it happened, or ``""``.
        op: the operation (type, where that is known, and output name), or ``""``.
    """

    def __init__(self, message: str, *, function: str = "", op: str = "") -> None:
        self.function = function
        self.op = op
        super().__init__(message)


class LoweringError(PteronError):
    """A model that cannot be lowered as asked."""


class MissingExtraError(PteronError, ImportError):
    """An optional dependency is needed; names the extra that brings it."""

    def __init__(self, what: str, extra: str) -> None:
        self.extra = extra
        super().__init__(f"{what} needs the extra '{extra}': pip install 'pteron[{extra}]'")


class CacheErrorCode(Enum):
    """Why a compiled-model cache failed."""

    INITIALIZATION_FAILED = "initialization failed"
    INVALID_IDENTIFIER = "invalid identifier"
    SOURCE_NOT_FOUND = "source not found"
    DISK_FULL = "disk full"
    IO_ERROR = "I/O error"
    CORRUPTED_ENTRY = "corrupted entry"


class CacheError(PteronError):
    """A compiled-model cache could not do what was asked; see :attr:`code`."""

    def __init__(self, code: CacheErrorCode, message: str) -> None:
        self.code = code
        super().__init__(f"{code.value}: {message}")
