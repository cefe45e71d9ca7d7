"""The whole way from a PyTorch model to a program file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

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
        dynamic_shapes: as ``torch.export.export`` takes it.
        progress: is told the stages.

    Returns:
        The program, unsaved; ``.lowering_report`` says who owns each buffer and why.

    Raises:
        LoweringError: the model cannot be exported or lowered; names the operations and lines.
        UsageError: an argument has no meaning.
    """
    progress = progress or NoProgress()
    with quiet():
        progress.stage("export")
        exported = capture.export(model, tuple(example_inputs), example_kwargs, dynamic_shapes)
        progress.stage("decompose")
        program = decompose.functional(exported, support.takes if backend else has_portable_kernel)
        lowered = _Method("forward", program, backend, progress)
        lowered.plan(take_over_mutable_buffers, on_inexact)
        outer, delegates = lowered.build()
        progress.stage("emit")
        return _file({outer.name: outer}, LoweringReport(lowered.state, tuple(delegates)))


class _Method:
    """One method on its way."""

    def __init__(
        self, name: str, program: ExportedProgram, backend: CoreML | None, progress: Progress
    ) -> None:
        self.name = name
        self.program = program
        self.backend = backend
        self.progress = progress
        self.state = state.survey(name, program)
        self.regions: list[set[Node]] = []

    def plan(self, take_over: state.TakeOver, on_inexact: str) -> None:
        """Decide what goes to delegates, and who owns each buffer."""
        self.progress.stage("plan")
        state.keep_from_delegates(self.state, self.backend, take_over, on_inexact)
        if self.backend is not None:
            self.regions = partition.whole_graph(self.program, support.supported)
        state.settle(self.state, self.program, list(self.regions))

    def build(self) -> tuple[Outer, list[DelegateSummary]]:
        """Make the payloads and the program around them."""
        made = [self._delegate(index, nodes) for index, nodes in enumerate(self.regions)]
        summaries = [
            DelegateSummary(
                method=self.name,
                index=index,
                backend=delegate.backend_id,
                operations=len(region.nodes),
                payload_bytes=len(delegate.payload),
                states=tuple(region.states),
            )
            for index, (region, delegate) in enumerate(made)
        ]
        return outline(self.name, self.program, made), summaries

    def _delegate(self, index: int, nodes: set[Node]) -> tuple[Region, Delegate]:
        assert self.backend is not None
        owned = [r.name for r in self.state.buffers.values() if r.delegate == index]
        region = carve(self.program, nodes, owned)
        self.progress.stage(f"convert delegate {index}")
        converted = convert.convert(region.program, self.backend, self.progress)
        states = [(self.state.buffers[n], inside) for n, inside in region.states.items()]
        specs = payload.compile_specs(self.backend, convert.target(self.backend), states)
        return region, Delegate(payload.BACKEND_ID, payload.payload(converted), specs)


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
