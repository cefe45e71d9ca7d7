"""The whole way from a PyTorch model to a program file."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pteron.errors import UsageError
from pteron.files import NamedBlob, PTEFile
from pteron.files.lowering_record import LOWERING_KEY
from pteron.lowering import capture, decompose, packages, quantised, shared_state
from pteron.lowering.choices import Choices
from pteron.lowering.coreml import enumerated, support
from pteron.lowering.emit.builder import ProgramData
from pteron.lowering.emit.kernels import has_portable_kernel
from pteron.lowering.emit.method import emit, state_arena
from pteron.lowering.method import KeptInVainError, LoweredMethod, MethodLowering
from pteron.lowering.options import CoreML
from pteron.lowering.progress import Progress
from pteron.lowering.quiet import quiet
from pteron.lowering.region import mutations
from pteron.lowering.report import LoweringReport
from pteron.lowering.sharing import unify
from pteron.lowering.stages import stage
from pteron.lowering.state import StatePlan, TakeOver, require_matches
from pteron.schema.program import Program

if TYPE_CHECKING:
    from torch import nn
    from torch.export import ExportedProgram


def lower(
    model: nn.Module | ExportedProgram | Mapping[str, Any],
    example_inputs: Sequence[Any] = (),
    *,
    example_kwargs: Mapping[str, Any] | None = None,
    backend: CoreML | None = CoreML(),  # noqa: B008 (frozen)
    take_over_mutable_buffers: TakeOver = True,
    on_inexact: str = "cast",
    exclude: Collection[str] = (),
    whole_graph: bool = False,
    dynamic_shapes: Any = None,
    debug_frames: bool = False,
    share_state_between_delegates: TakeOver = False,
) -> PTEFile:
    """Lower a model to an ExecuTorch program; :mod:`pteron.progress` hears of its stages.

    Args:
        model: an ``nn.Module``, an ``ExportedProgram`` made of one, or several methods: a
            mapping of method name to ``ExportedProgram``, or to ``(module or bound method,
            inputs[, kwargs[, dynamic_shapes]])``. Tensors that methods have in common are stored
            once, and a buffer that one of them writes is one buffer for all.
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
        debug_frames: store with each instruction the lines of the model that it comes from, and
            the lowering report in named data, for ``pteron report``.
        share_state_between_delegates: which buffers of several methods may be state of delegates,
            in the same terms as ``take_over_mutable_buffers``. By default the program owns them,
            since only pteron's runtime shares the value (a warning says so). Needs the
            delegates of the methods to be functions of one package (``multifunction``).

    Returns:
        The program, unsaved; ``.lowering_report`` says who owns each buffer and why.

    Raises:
        LoweringError: the model cannot be exported or lowered; names the operations and lines.
        UsageError: an argument has no meaning.
    """
    progress = Progress()
    choices = Choices(
        backend,
        take_over_mutable_buffers,
        on_inexact,
        exclude,
        whole_graph,
        progress,
        share_state_between_delegates,
    )
    if not isinstance(model, Mapping):
        model = {"forward": (model, example_inputs, example_kwargs, dynamic_shapes)}
    elif not model:
        raise UsageError("the mapping of methods is empty: give at least one, such as 'forward'")
    with quiet(), progress:
        exported: dict[str, capture.Exported] = {}
        for name, source in model.items():
            progress.stage(f"export {name}")
            exported[name] = capture.export(*_source(name, source, choices))
        if backend is not None and backend.enumerated_shapes is not None:
            programs = {name: method.program for name, method in exported.items()}
            enumerated.require_inputs(backend.enumerated_shapes, programs)
        lowered, shared = _lowered(exported, choices)
        progress.stage("emit")
        file = _file(lowered, backend, debug_frames, shared)
    shared_state.warn(shared)
    return file


def _source(name: str, source: Any, choices: Choices) -> tuple[Any, Any, Any, Any]:
    """A method's model and inputs; enumerated shapes say which sizes vary, if nothing else does."""
    model, args, kwargs, dynamic = capture.source(name, source)
    backend = choices.backend
    shapes = backend.enumerated_shapes if backend is not None else None
    if shapes is None or dynamic is not None or not (args or kwargs):
        return model, args, kwargs, dynamic
    return model, *enumerated.call(model, args, kwargs, shapes)


def _lowered(
    exported: Mapping[str, capture.Exported], choices: Choices
) -> tuple[list[LoweredMethod], dict[str, shared_state.Place]]:
    """Every method, decomposed no further than the backend needs; and the states they share."""
    kept = has_portable_kernel if choices.backend is None else support.keeps
    in_vain: set[Any] = set()
    apart: dict[str, str] = {}

    def keep(op: Any) -> bool:
        return op not in in_vain and kept(op)

    gathered: dict[str, ExportedProgram] = {}
    for name, source in exported.items():
        with stage(f"torch cannot decompose method {name}"):
            gathered[name] = quantised.gathered(source.program)
    while True:
        programs: dict[str, ExportedProgram] = {}
        for name, program in gathered.items():
            choices.progress.stage(f"decompose {name}")
            with stage(f"torch cannot decompose method {name}"):
                programs[name] = decompose.functional(program, keep)
        with stage("cannot match the tensors of the methods"):
            users = unify(programs)
        wanted = {n: m for n, m in users.items() if choices.shares(n) and n not in apart}
        shared = {n: apart.get(n, _shared(m)) for n, m in users.items() if n not in wanted}
        written = {name for program in programs.values() for name in mutations(program)}
        require_matches(choices.take_over, written)
        require_matches(choices.share, users, "share_state_between_delegates")
        decomposable = set(decompose.decompositions()) - in_vain
        try:
            lowered = [
                MethodLowering(name, program, exported[name], shared, decomposable, choices).lower()
                for name, program in programs.items()
            ]
            return lowered, shared_state.require_together(lowered, wanted)
        except KeptInVainError as error:
            in_vain |= error.ops
        except shared_state.ApartError as error:
            apart |= error.reasons


def _shared(methods: Sequence[str]) -> str:
    return (
        f"methods {', '.join(methods)} share it, and Core ML makes a state of its own for each "
        "delegate that is loaded"
    )


def _file(
    methods: Sequence[LoweredMethod],
    backend: CoreML | None,
    debug_frames: bool,
    shared: Mapping[str, shared_state.Place],
) -> PTEFile:
    with stage("cannot put the delegates of several methods into one package"):
        shared_state.declare(methods, shared)
        numbers = {number for number, _ in shared.values()}
        named_data, joined = packages.gather(methods, backend, numbers)
    with stage("cannot emit the program"):
        data = ProgramData(state_arena([method.outer for method in methods]), debug_frames)
        plans = [emit(method.outer, data) for method in methods]
    report = LoweringReport(
        StatePlan.merged([method.state for method in methods]),
        tuple(summary for method in methods for summary in method.summaries()),
        {method.name: method.outer for method in methods},
        joined,
    )
    if debug_frames:
        named_data = {**named_data, LOWERING_KEY: NamedBlob(report.to_json().encode())}
    file = PTEFile(
        program=Program(version=0, execution_plan=plans),
        constants=data.constants.content,
        mutable_data=data.mutable_data.content if len(data.mutable_data.content) > 1 else (),
        delegate_payloads=data.payloads.content[1:],
        named_data=named_data,
    )
    file.lowering_report = report
    return file
