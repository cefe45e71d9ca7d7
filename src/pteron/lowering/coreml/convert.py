"""One region -> a Core ML model, through coremltools."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from unittest import mock

from pteron.errors import LoweringError
from pteron.lowering.coreml import enumerated
from pteron.lowering.coreml.at_hand import line_at_hand
from pteron.lowering.coreml.compression import compress
from pteron.lowering.coreml.needless_work import without_needless_work
from pteron.lowering.coreml.quantised import stored_quantised
from pteron.lowering.coreml.rms_norm import with_scaled_epsilon
from pteron.lowering.coreml.select_shapes import with_shape_of_condition
from pteron.lowering.coreml.updates import in_current_order
from pteron.lowering.coreml.weight_records import records
from pteron.lowering.progress import Progress
from pteron.lowering.weights import WeightRecord

if TYPE_CHECKING:
    from torch.export import ExportedProgram

    from pteron.lowering.options import CoreML

_T = TypeVar("_T")


class RefusedError(LoweringError):
    """coremltools could not convert a region.

    Attributes:
        node: name of the operation that it was at, or ``""`` if it was at none.
        line: the model's line of the MIL operation that one of its passes was at, or ``""``.
    """

    def __init__(self, reason: str, node: str, line: str = "") -> None:
        self.reason = " ".join(reason.split())
        self.node = node
        self.line = line
        super().__init__(f"coremltools cannot convert the model: {self.reason}")


@dataclass(frozen=True)
class Converted:
    """A Core ML model as coremltools made it.

    Attributes:
        model: the serialised Model message.
        weights: content of ``weight.bin``, empty if the model has no large constants.
        inputs, outputs: feature names in call order; states are not among them.
        places: for each output of the region, which of ``outputs`` it is. Two outputs that
            coremltools found to be the same value are one.
        states: names of the states, in the order of the program's mutated buffers.
        records: its weights, if any of them is compressed or was to be.
    """

    model: bytes
    weights: bytes
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    places: tuple[int, ...]
    states: tuple[str, ...]
    records: tuple[WeightRecord, ...]


def convert(
    program: ExportedProgram,
    options: CoreML,
    progress: Progress,
    names: Mapping[str, str],
    sizes: enumerated.Sizes,
) -> Converted:
    """Convert a region; its mutated buffers become Core ML states.

    ``names`` gives the model's names of the region's constants, for the records; ``sizes`` the
    values of its symbols where shapes are enumerated. Raises :class:`RefusedError` with
    coremltools' reason.
    """
    with tempfile.TemporaryDirectory(prefix="pteron-") as directory, _fresh_names():
        mil = _to_mil(program, options, progress)
        if options.weights is not None:
            compress(mil, options.weights, _bar(progress))
        model = _to_proto(mil, options, progress, Path(directory))
        weights = Path(directory) / "weight.bin"
        content = weights.read_bytes() if weights.is_file() else b""
    if options.enumerated_shapes is not None:
        enumerated.describe(model, program, sizes)
    description = model.description
    named = [feature.name for feature in description.output]
    outputs = tuple(dict.fromkeys(named))
    _without_repeated_outputs(model)
    return Converted(
        model=model.SerializeToString(deterministic=True),
        weights=content,
        inputs=tuple(feature.name for feature in description.input),
        outputs=outputs,
        places=tuple(outputs.index(name) for name in named),
        states=tuple(feature.name for feature in description.state),
        records=records(mil, names, options.weights),
    )


# ct.convert would serialise and reload the model several times and leave it in a temporary
# directory of its own; what it does in between is these two calls.


def _to_mil(program: ExportedProgram, options: CoreML, progress: Progress) -> Any:
    """The region as a program of coremltools, with all of its optimisations done."""
    import coremltools as ct
    from coremltools.converters.mil import converter

    pipeline = ct.PassPipeline.DEFAULT
    # It leaves operations that add_fp16_cast then trips over (coremltools 9.0: "scope cannot have
    # len > 1"); what it fuses costs next to nothing.
    pipeline.remove_passes({"common::fuse_squeeze_expand_dims"})
    if options.compute_precision == "float32":
        pipeline.remove_passes({"common::add_fp16_cast", "common::add_int16_cast"})
    at: list[str] = []
    try:
        with (
            _progress_of_coremltools(progress),
            _position(at),
            in_current_order(),
            with_scaled_epsilon(),
            with_shape_of_condition(),
            stored_quantised(),
            without_needless_work(),
            _validated_once() as validate,
        ):
            _, mil = converter.mil_convert_to_proto(
                program,
                "pytorch",
                "milinternal",
                converter.ConverterRegistry,
                main_pipeline=pipeline,
                inputs=None,
                outputs=None,
                specification_version=target(options),
                use_default_fp16_io=False,
            )
            validate(mil)
    except Exception as error:
        raise RefusedError(str(error), at[-1] if at else "", line_at_hand(error)) from error
    return mil


def _to_proto(mil: Any, options: CoreML, progress: Progress, directory: Path) -> Any:
    """A program of coremltools as a Model message; its weights go to ``directory``."""
    import coremltools as ct
    from coremltools.converters.mil import converter

    try:
        with (
            _progress_of_coremltools(progress),
            without_needless_work(),
            _validated_once() as validate,
        ):
            proto, _ = converter.mil_convert_to_proto(
                mil,
                "milinternal",
                "mlprogram",
                converter.ConverterRegistry,
                main_pipeline=ct.PassPipeline.EMPTY,
                specification_version=target(options),
                weights_dir=str(directory),
            )
            validate(mil)
    except Exception as error:
        raise RefusedError(str(error), "", line_at_hand(error)) from error
    return proto


def _without_repeated_outputs(model: Any) -> None:
    """Core ML wants every output once: drop repeated ones from the interface and the function."""
    features = {feature.name: feature for feature in reversed(model.description.output)}
    if len(features) == len(model.description.output):
        return
    unique = [type(f).FromString(f.SerializeToString()) for f in reversed(features.values())]
    del model.description.output[:]
    model.description.output.extend(unique)
    for function in model.mlProgram.functions.values():
        for block in function.block_specializations.values():
            block.outputs[:] = list(dict.fromkeys(block.outputs))


def target(options: CoreML) -> int:
    """Core ML specification version of the deployment target."""
    import coremltools as ct

    return int(ct.target[options.minimum_deployment_target].value)


@contextmanager
def _fresh_names() -> Iterator[None]:
    """Let coremltools count names from the start, and go on counting in all steps of a conversion.

    The last step adds operations of its own, whose names must not be there already.
    """
    from coremltools.converters.mil import converter

    converter._reset_conversion_state()
    try:
        yield
    finally:
        converter._reset_conversion_state()


@contextmanager
def _progress_of_coremltools(progress: Progress) -> Iterator[None]:
    """Let coremltools' progress bars report to ours."""
    from coremltools.converters.mil.frontend.torch import ops
    from coremltools.converters.mil.mil.passes import pass_pipeline

    bar = _bar(progress)
    with mock.patch.object(ops, "_tqdm", bar), mock.patch.object(pass_pipeline, "tqdm", bar):
        yield


@contextmanager
def _validated_once() -> Iterator[Callable[[Any], None]]:
    """Let coremltools validate the program at the end, not after each of its hundred passes.

    Validation walks the whole program; done after every pass it takes 40 % of a conversion.
    """
    from coremltools.converters.mil.mil.program import Program

    validate = Program.validate
    with mock.patch.object(Program, "validate", lambda *_, **__: None):
        yield validate


@contextmanager
def _position(at: list[str]) -> Iterator[None]:
    """Keep in ``at`` the name of the operation that coremltools is converting."""
    from coremltools.converters.mil.frontend.torch import ops

    convert_one = ops.convert_single_node

    def noting(context: Any, node: Any) -> None:
        at.append(node.name)
        convert_one(context, node)
        at.pop()

    with mock.patch.object(ops, "convert_single_node", noting):
        yield


def _bar(progress: Progress) -> Callable[..., Iterator[_T]]:
    def bar(items: Iterable[_T], *_: object, **__: object) -> Iterator[_T]:
        known = list(items)
        for done, item in enumerate(known):
            progress.advance(done, len(known))
            yield item

    return bar
