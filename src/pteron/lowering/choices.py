"""What the caller of :func:`pteron.lowering.lower` asked for."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pteron.errors import UsageError
from pteron.lowering.options import CoreML
from pteron.lowering.state import TakeOver, chosen

if TYPE_CHECKING:
    from torch.fx import Node

    from pteron.lowering.progress import Progress


@dataclass(frozen=True)
class Choices:
    """The arguments of ``lower`` that hold for every method."""

    backend: CoreML | None
    take_over: TakeOver
    on_inexact: str
    exclude: Collection[str]
    whole_graph: bool
    progress: Progress
    share: TakeOver = False

    def __post_init__(self) -> None:
        """Raises :class:`UsageError` for an argument of a type or value that has no meaning."""
        if self.backend is not None and not isinstance(self.backend, CoreML):
            raise UsageError(
                f"backend={self.backend!r}: must be pteron.CoreML(...) or None (portable operators)"
            )
        if self.on_inexact not in ("cast", "keep", "error"):
            raise UsageError(f"on_inexact={self.on_inexact!r}: must be 'cast', 'keep' or 'error'")
        if not callable(self.take_over) and not isinstance(self.take_over, (bool, str)):
            _require_names("take_over_mutable_buffers", self.take_over)
        if not callable(self.share) and not isinstance(self.share, (bool, str)):
            _require_names("share_state_between_delegates", self.share)
        _require_names("exclude", self.exclude)
        if not isinstance(self.whole_graph, bool):
            raise UsageError(f"whole_graph={self.whole_graph!r}: must be True or False")

    def excludes(self, node: Node) -> bool:
        """Whether the caller keeps an operation out of delegates, by name or glob."""
        return chosen(self.exclude)(str(node.target))

    def shares(self, name: str) -> bool:
        """Whether delegates of several methods may share a buffer as state."""
        backend = self.backend
        able = backend is not None and backend.has_state and backend.multifunction
        return able and chosen(self.share)(name)


def _require_names(argument: str, given: object) -> None:
    names = list(given) if isinstance(given, Collection) and not isinstance(given, str) else [None]
    if not all(isinstance(name, str) for name in names):
        raise UsageError(f"{argument}={given!r}: must be a list of names or globs")
