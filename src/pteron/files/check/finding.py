"""What a check finds."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Severity(str, Enum):
    """How bad a finding is."""

    ERROR = "error"
    """The file contradicts itself: a runtime refuses it, or worse."""
    WARNING = "warning"
    """Runtimes read it, but it is not what tools write, or not what its author will have meant."""
    NOTE = "note"
    """Worth knowing."""


@dataclass(frozen=True)
class Finding:
    """One thing that a check found.

    Attributes:
        severity: how bad it is.
        where: path of the field in the file (``execution_plan[0].inputs[1]``).
        message: what is wrong.
    """

    severity: Severity
    where: str
    message: str

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        return f"{self.severity.value}: {place}{self.message}"


def error(where: str, message: str) -> Finding:
    """A finding that makes the file invalid."""
    return Finding(Severity.ERROR, where, message)


def warning(where: str, message: str) -> Finding:
    """A finding that does not."""
    return Finding(Severity.WARNING, where, message)


def note(where: str, message: str) -> Finding:
    """A finding that is no fault."""
    return Finding(Severity.NOTE, where, message)
