"""What lowering did, for a person and for a program."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from pteron.errors import UsageError
from pteron.files.runtimes import coreml_state_runtimes
from pteron.lowering import state_table
from pteron.lowering.state import BufferRecord, StatePlan
from pteron.lowering.weights import WeightRecord, summary
from pteron.suggestions import meant

if TYPE_CHECKING:
    from torch.export import ExportedProgram

    from pteron.lowering.outer import Outer
    from pteron.lowering.packages import PackageSummary


@dataclass(frozen=True)
class DelegateSummary:
    """One delegate of a method: its size in operations and bytes, and the states it owns.

    ``weights`` lists its weights if any of them is compressed or was to be.
    """

    method: str
    index: int
    backend: str
    operations: int
    payload_bytes: int
    states: tuple[str, ...]
    weights: tuple[WeightRecord, ...] = ()


@dataclass(frozen=True)
class LoweringReport:
    """Who owns each buffer and why, and what each delegate holds.

    ``print`` shows it as a table, :meth:`to_json` gives all of it.
    """

    state: StatePlan
    delegates: tuple[DelegateSummary, ...]
    outers: Mapping[str, Outer] = field(default_factory=dict, repr=False, compare=False)
    packages: tuple[PackageSummary, ...] = ()

    def outer_program(self, method: str = "forward") -> ExportedProgram:
        """A method as an ``ExportedProgram`` in which each delegate is one call.

        Raises :class:`UsageError` for a method that there is not.
        """
        if method not in self.outers:
            known = ", ".join(self.outers)
            raise UsageError(f"no method {method!r}{meant(method, self.outers)}; known: {known}")
        from pteron.lowering.outer_program import exported

        return exported(self.outers[method])

    def to_json(self) -> str:
        """The report as one JSON document, with every read and write of every buffer."""
        return json.dumps(
            {
                "buffers": [_plain(record) for record in self.state.buffers.values()],
                "delegates": [asdict(delegate) for delegate in self.delegates],
                "packages": [asdict(package) for package in self.packages],
            },
            indent=2,
            ensure_ascii=False,
        )

    def __str__(self) -> str:
        lines = state_table.lines(list(self.state.buffers.values()))
        lines += [_line(delegate) for delegate in self.delegates]
        lines += [str(package) for package in self.packages]
        if any(delegate.states for delegate in self.delegates):
            lines.append(coreml_state_runtimes())
        return "\n".join(lines)


def _line(delegate: DelegateSummary) -> str:
    states = f", {_count(len(delegate.states), 'state')}" if delegate.states else ""
    weights = f"\n  weights: {summary(delegate.weights)}" if delegate.weights else ""
    return (
        f"{delegate.method}: delegate {delegate.index} ({delegate.backend}), "
        f"{_count(delegate.operations, 'operation')}, {delegate.payload_bytes:,} bytes{states}"
        f"{weights}"
    )


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def _plain(record: BufferRecord) -> dict[str, Any]:
    plain = asdict(record)
    plain["owner"] = record.owner.value if record.owner else None
    return plain
