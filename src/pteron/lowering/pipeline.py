"""The whole way from a PyTorch model to a program file."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from pteron.errors import LoweringError
from pteron.files import PTEFile
from pteron.lowering import capture, decompose, partition, state
from pteron.lowering.coreml import convert, payload, support
from pteron.lowering.emit.builder import ProgramData
from pteron.lowering.emit.kernels import has_portable_kernel
from pteron.lowering.emit.method import emit, state_arena
from pteron.lowering.options import CoreML
from pteron.lowering.outer import Delegate, Outer, outline
from pteron.lowering.progress import NoProgress, Progress
from pteron.lowering.quiet import quiet
from pteron.lowering.region import Region, carve
from pteron.lowering.report import DelegateSummary, LoweringReport
from pteron.lowering.source import describe
from pteron.schema.program import Program

if TYPE_CHECKING:
    from torch.export import ExportedProgram
    from torch.fx import Node
    from torch.nn import Module


def lower(
    model: Module | ExportedProgram,
    example_inputs: Sequence[Any] = (),
    *,
    example_kwargs: Mapping[str, Any] | None = None,
    backend: CoreML | None = CoreML(),  # noqa: B008 (frozen)
    take_over_mutable_buffers: state.TakeOver = True,
    on_inexact: str = "cast",
    exclude: Collection[str] = (),
    whole_graph: bool = False,
    dynamic_shapes: Any = None,
    progress: Progress | None = None,
) -> PTEFile:
    """Lower a model to an ExecuTorch program.

    Args:
        model: an ``nn.Module``, or an ``ExportedProgram`` made of one.
        example_inputs: positional inputs of the forward call, as ``torch.export`` takes them.
        example_kwargs: keyword inputs of it.
        backend: what the delegate is made for; ``None`` lowers to portable operators alone.
        take_over_mutable_buffers: which buffers a delegate may own as state: ``True`` (all that
            it can hold), ``False`` (none: it gets them as inputs and outputs), names or globs
            of ``named_buffers()``, or a function of the name.
        on_inexact: an fp32 buffer that begins at zero can only become fp16 state. ``"cast"``
            does that (the report says so), ``"keep"`` leaves it to the program, ``"error"``
            refuses.
        exclude: operators that no delegate gets, by name or glob (``"aten.softmax.*"``).
        whole_graph: one delegate with everything, or an error that names what prevents it.
        dynamic_shapes: as ``torch.export.export`` takes it.
        progress: is told the stages.

    Returns:
        The program, unsaved; ``.lowering_report`` says who owns each buffer and why.

    Raises:
        LoweringError: the model cannot be exported or lowered; names the operations and lines.
        UsageError: an argument has no meaning.
    """
    progress = progress or NoProgress()
    choices = _Choices(
        backend, take_over_mutable_buffers, on_inexact, exclude, whole_graph, progress
    )
    with quiet():
        progress.stage("export")
        exported = capture.export(model, tuple(example_inputs), example_kwargs, dynamic_shapes)
        progress.stage("decompose")
        keep = has_portable_kernel if backend is None else support.keeps
        program = decompose.functional(exported, keep)
        lowered = _Method("forward", program, choices).lower()
        progress.stage("emit")
        report = LoweringReport(lowered.state, tuple(lowered.summaries()))
        return _file({"forward": lowered.outer}, report)


class _Method:
    """One method on its way."""

    def __init__(self, name: str, program: ExportedProgram, choices: _Choices) -> None:
        self.name = name
        self.program = program
        self.choices = choices
        self.refused: set[str] = set()

    def lower(self) -> _Lowered:
        """Divide, convert, and divide again without what turned out not to convert."""
        while True:
            plan, regions = self._plan()
            try:
                made = [self._delegate(plan, *entry) for entry in enumerate(regions)]
            except convert.RefusedError as error:
                self._without(error)
            else:
                return _Lowered(self.name, outline(self.name, self.program, made), plan, made)

    def _plan(self) -> tuple[state.StatePlan, list[set[Node]]]:
        choices = self.choices
        choices.progress.stage("plan")
        plan = state.survey(self.name, self.program)
        state.keep_from_delegates(plan, choices.backend, choices.take_over, choices.on_inexact)
        sets = state.touching(plan, self.program)
        if choices.backend is None:
            division = partition.Partition([], {})
        elif choices.whole_graph:
            division = partition.whole_graph(self.program, self._taken)
        else:
            division = partition.partition(self.program, self._taken, sets)
        state.settle(plan, sets, division)
        return plan, division.regions

    def _taken(self, node: Node) -> bool:
        if node.name in self.refused or self.choices.excludes(node):
            return False
        return support.supported(node)

    def _delegate(
        self, plan: state.StatePlan, index: int, nodes: set[Node]
    ) -> tuple[Region, Delegate]:
        backend = self.choices.backend
        assert backend is not None
        owned = [record.name for record in plan.buffers.values() if record.delegate == index]
        region = carve(self.program, nodes, owned)
        self.choices.progress.stage(f"convert delegate {index}")
        converted = convert.convert(region.program, backend, self.choices.progress)
        states = [(plan.buffers[name], inside) for name, inside in region.states.items()]
        specs = payload.compile_specs(backend, convert.target(backend), states)
        data = payload.payload(converted)
        return region, Delegate(payload.BACKEND_ID, data, specs, converted.places)

    def _without(self, error: convert.RefusedError) -> None:
        """Leave the operation that coremltools failed at to the program, if that is allowed."""
        nodes = {node.name: node for node in self.program.graph.nodes}
        node = nodes.get(error.node)
        if node is None:
            raise error
        if self.choices.whole_graph:
            raise LoweringError(
                f"coremltools cannot convert {describe(node)}: {error.reason}; lower without "
                "whole_graph to leave it to the program"
            ) from error
        self.refused.add(node.name)


@dataclass(frozen=True)
class _Lowered:
    """A method, lowered: the program around its delegates, and what is in them."""

    name: str
    outer: Outer
    state: state.StatePlan
    delegates: list[tuple[Region, Delegate]]

    def summaries(self) -> list[DelegateSummary]:
        return [
            DelegateSummary(
                method=self.name,
                index=index,
                backend=delegate.backend_id,
                operations=len(region.nodes),
                payload_bytes=len(delegate.payload),
                states=tuple(region.states),
            )
            for index, (region, delegate) in enumerate(self.delegates)
        ]


@dataclass(frozen=True)
class _Choices:
    """What the caller asked for."""

    backend: CoreML | None
    take_over: state.TakeOver
    on_inexact: str
    exclude: Collection[str]
    whole_graph: bool
    progress: Progress

    def excludes(self, node: Node) -> bool:
        """Whether the caller keeps an operation out of delegates, by name or glob."""
        name = str(node.target)
        return any(fnmatchcase(name, pattern) for pattern in self.exclude)


def _file(outers: Mapping[str, Outer], report: LoweringReport) -> PTEFile:
    data = ProgramData(state_arena(outers))
    plans = [emit(outer, data) for outer in outers.values()]
    file = PTEFile(
        program=Program(version=0, execution_plan=plans),
        constants=data.constants.content,
        mutable_data=data.mutable_data.content if len(data.mutable_data.content) > 1 else (),
        delegate_payloads=data.payloads.content[1:],
    )
    file.lowering_report = report
    return file
