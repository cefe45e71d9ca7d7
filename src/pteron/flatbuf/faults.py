"""How an error learns the path of the field in which it happened."""

from __future__ import annotations

from pteron.errors import FormatError, UsageError


class Fault(Exception):  # noqa: N818 - never leaves the codec; callers see errors
    """A problem on its way up; every level it passes adds its part of the path.

    Paths cost nothing until something is wrong: no path is built while all goes well.
    """

    def __init__(self, problem: str, offset: int | None = None) -> None:
        super().__init__(problem)
        self.problem = problem
        self.offset = offset
        self.parts: list[str] = []

    def under(self, part: str) -> Fault:
        """The same fault, one level up: ``part`` is a field name or an index in brackets."""
        self.parts.append(part)
        return self

    def path(self, prefix: str = "") -> str:
        """The whole path, such as ``execution_plan[0].values[3].val``."""
        text = prefix
        for part in reversed(self.parts):
            text += part if part.startswith("[") or not text else f".{part}"
        return text

    def as_format_error(self, prefix: str = "") -> FormatError:
        """For bytes that are wrong."""
        return FormatError(self.problem, where=self.path(prefix), offset=self.offset)

    def as_usage_error(self) -> UsageError:
        """For objects that cannot be written."""
        path = self.path()
        return UsageError(f"{path}: {self.problem}" if path else self.problem)
