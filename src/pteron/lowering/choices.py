"""What the caller of :func:`pteron.lowering.lower` asked for."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from pteron.lowering.state import TakeOver

if TYPE_CHECKING:
    from torch.fx import Node

    from pteron.lowering.options import CoreML
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

    def excludes(self, node: Node) -> bool:
        """Whether the caller keeps an operation out of delegates, by name or glob."""
        name = str(node.target)
        return any(fnmatchcase(name, pattern) for pattern in self.exclude)
