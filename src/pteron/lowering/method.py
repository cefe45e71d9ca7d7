"""One method's functional graph -> the program around its delegates."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pteron.errors import LoweringError
from pteron.lowering import partition, quantised, state
from pteron.lowering.capture import Exported
from pteron.lowering.choices import Choices
from pteron.lowering.coreml import convert, enumerated, payload, support
from pteron.lowering.emit.kernels import has_portable_kernel
from pteron.lowering.outer import Delegate, Outer, outline
from pteron.lowering.region import Region, carve, names_of
from pteron.lowering.report import DelegateSummary
from pteron.lowering.sizes import is_number, localise
from pteron.lowering.source import describe, source_line
from pteron.lowering.stages import stage
from pteron.lowering.subgraphs import calls

if TYPE_CHECKING:
    from torch.export import ExportedProgram
    from torch.fx import Node


class KeptInVainError(Exception):
    """Operators that were not decomposed for a delegate's sake, and that it then did not take."""

    def __init__(self, ops: set[Any]) -> None:
        self.ops = ops
        super().__init__(", ".join(map(str, ops)))


class MethodLowering:
    """One method on its way.

    ``exported`` is what ``program`` was decomposed from;
    ``shared`` names the buffers that the program must own because of other methods, with reasons;
    ``decomposable`` the operators that could still be decomposed.
    """

    def __init__(
        self,
        name: str,
        program: ExportedProgram,
        exported: Exported,
        shared: Mapping[str, str],
        decomposable: Collection[Any],
        choices: Choices,
    ) -> None:
        self.name = name
        self.program = program
        self.exported = exported
        self.shared = shared
        self.choices = choices
        self.decomposable = decomposable
        self.refused: set[str] = set()

    def lower(self) -> LoweredMethod:
        """Divide, convert, and divide again without what turned out not to convert."""
        while True:
            self.choices.progress.stage(f"plan {self.name}")
            with stage(f"cannot plan method {self.name}"):
                plan, regions = self._plan()
            self._decompose_what_is_left(regions)
            try:
                made = [self._delegate(plan, *entry) for entry in enumerate(regions)]
            except convert.RefusedError as error:
                self._without(error)
            else:
                with stage(f"cannot lay out method {self.name} around its delegates"):
                    outer = outline(self.name, self.program, made)
                return LoweredMethod(self.name, outer, plan, made)

    def _plan(self) -> tuple[state.StatePlan, list[set[Node]]]:
        choices = self.choices
        plan = state.survey(self.name, self.program, self.exported)
        for name, reason in self.shared.items():
            if name in plan.buffers and choices.backend is not None:
                plan.buffers[name].give(state.Owner.PROGRAM, reason)
        state.keep_from_delegates(plan, choices.backend, choices.take_over, choices.on_inexact)
        sets = state.touching(plan, self.program)
        if choices.backend is None:
            division = partition.Partition([], {})
        elif choices.whole_graph:
            division = partition.whole_graph(self.program, self._taken)
        else:
            division = partition.partition(self.program, self._taken, sets)
        state.settle(plan, self.name, sets, division)
        state.locate(plan, self.name, self.program, division)
        localise(self.program, division.regions)
        return plan, division.regions

    def _taken(self, node: Node) -> bool:
        if node.name in self.refused or self.choices.excludes(node):
            return False
        return is_number(node) or support.supported(node)

    def _delegate(
        self, plan: state.StatePlan, index: int, nodes: set[Node]
    ) -> tuple[Region, Delegate]:
        backend = self.choices.backend
        assert backend is not None
        owned = [record.name for record in plan.buffers.values() if record.delegate == index]
        self.choices.progress.stage(f"convert {self.name} {index}")
        with stage(f"cannot convert delegate {index} of method {self.name}"):
            region = carve(self.program, nodes, owned)
            converted = convert.convert(
                region.program,
                backend,
                self.choices.progress,
                self._names(),
                enumerated.sizes(self.program, backend.enumerated_shapes or {}),
            )
            states = [(plan.buffers[name], inside) for name, inside in region.states.items()]
            specs = payload.compile_specs(backend, convert.target(backend), states)
            data = payload.payload(converted)
        return region, Delegate(
            payload.BACKEND_ID, data, specs, converted.places, converted.records, converted
        )

    def _names(self) -> dict[str, str]:
        return {**names_of(self.program), **quantised.names_of(self.program)}

    def _decompose_what_is_left(self, regions: Sequence[set[Node]]) -> None:
        """Raise for operators that were kept for delegates, and that no runtime has itself."""
        inside = set().union(*regions)
        left = {node.target for node in calls(self.program.graph) if node not in inside}
        whole = {op for op in left if op in self.decomposable and not has_portable_kernel(op)}
        if whole:
            raise KeptInVainError(whole)

    def _without(self, error: convert.RefusedError) -> None:
        """Leave the operation that coremltools failed at to the program, if that is allowed."""
        nodes = {node.name: node for node in self.program.graph.nodes}
        node = nodes.get(error.node)
        if node is None:
            raise LoweringError(self._refused_as_a_whole(error)) from error
        if node.target in self.decomposable:
            raise KeptInVainError({node.target})
        if self.choices.whole_graph:
            raise LoweringError(
                f"coremltools cannot convert {describe(node)}: {error.reason}; lower without "
                "whole_graph to leave it to the program"
            ) from error
        self.refused.add(node.name)

    def _refused_as_a_whole(self, error: convert.RefusedError) -> str:
        """What to say of an error that came after the conversion of single operations."""
        at = [n for n in calls(self.program.graph) if error.line and source_line(n) == error.line]
        if not at:
            return (
                f"coremltools cannot convert method {self.name}, and names no operation: "
                f"{error.reason}; keep operators that it speaks of with the program "
                "(exclude=[...]), or lower without a backend (backend=None)"
            )
        names = list(dict.fromkeys(str(node.target) for node in at))
        return (
            f"coremltools cannot convert method {self.name}, at {', '.join(names)} "
            f"({error.line}): {error.reason}; keep that with the program (exclude={names})"
        )


@dataclass(frozen=True)
class LoweredMethod:
    """A method, lowered: the program around its delegates, and what is in them."""

    name: str
    outer: Outer
    state: state.StatePlan
    delegates: list[tuple[Region, Delegate]]

    def summaries(self) -> list[DelegateSummary]:
        """What the report says of each delegate."""
        return [
            DelegateSummary(
                method=self.name,
                index=index,
                backend=delegate.backend_id,
                operations=len(region.nodes),
                payload_bytes=len(delegate.payload),
                states=tuple(region.states),
                weights=delegate.weights,
            )
            for index, (region, delegate) in enumerate(self.delegates)
        ]
