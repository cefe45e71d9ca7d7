"""One difference between two files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from pteron.files.diff.distance import Distance

Kind = Literal["added", "removed", "changed"]


@dataclass(frozen=True)
class Change:
    """Something that only one file has, or that both have but not alike.

    Attributes:
        where: path of it, from the section down: ``("methods", "forward", "operators", ...)``.
        kind: ``added`` (only the second file has it), ``removed`` or ``changed``.
        before: what the first file has, as plain data; ``None`` if nothing.
        after: what the second file has.
        distance: how far apart the values are, for tensors of one shape.
    """

    where: tuple[str, ...]
    kind: Kind
    before: Any = None
    after: Any = None
    distance: Distance | None = None

    def as_json(self) -> dict[str, Any]:
        """What ``json.dumps`` can take."""
        plain = {
            "where": list(self.where),
            "kind": self.kind,
            "before": self.before,
            "after": self.after,
        }
        return plain | ({"distance": self.distance.as_json()} if self.distance else {})
