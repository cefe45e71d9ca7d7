"""Smaller weights: coremltools' compression passes, run on a converted program.

What is compressed is written as ``constexpr_*`` operations, which Core ML expands when it loads or
runs the model (coremltools ``ops/defs/iOS16/constexpr_ops.py``, ``iOS18/compression.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from pteron.errors import LoweringError
from pteron.lowering.coreml.weight_formats import WeightFormat, parse


def compress(program: Any, weights: Any, bar: Callable[..., Any]) -> None:
    """Compress the weights of a pymil program in place.

    ``weights`` is a short name or an ``OptimizationConfig`` of coremltools. Raises
    :class:`LoweringError` with coremltools' reason, such as a format newer than the target.
    """
    config = configuration(weights)
    try:
        with _progress(bar):
            for name, part in _by_pass(config):
                _run(name, _of_floats(part, program), program)
    except Exception as error:
        raise LoweringError(f"coremltools cannot compress the weights: {error}") from error


def configuration(weights: Any) -> Any:
    """The ``OptimizationConfig`` that a short name stands for; one that is given, as it is."""
    import coremltools.optimize.coreml as cto

    return weights if not isinstance(weights, str) else cto.OptimizationConfig(_op(parse(weights)))


def _op(wanted: WeightFormat) -> Any:
    import coremltools.optimize.coreml as cto

    if wanted.kind == "palette":
        per = "per_grouped_channel" if wanted.per == "group" else "per_tensor"
        return cto.OpPalettizerConfig(nbits=wanted.bits, granularity=per, group_size=wanted.size)
    per = f"per_{wanted.per}"
    return cto.OpLinearQuantizerConfig(
        dtype=f"int{wanted.bits}", granularity=per, block_size=wanted.size
    )


def _by_pass(config: Any) -> Iterator[tuple[str, Any]]:
    """coremltools' passes take one kind of compression each: the part of ``config`` for each."""
    import coremltools.optimize.coreml as cto

    kinds = {
        "prune_weights": (cto.OpMagnitudePrunerConfig, cto.OpThresholdPrunerConfig),
        "palettize_weights": (cto.OpPalettizerConfig,),
        "linear_quantize_weights": (cto.OpLinearQuantizerConfig,),
    }
    for name, kind in kinds.items():
        part = _only(config, kind)
        if any(
            [part.global_config, *part.op_type_configs.values(), *part.op_name_configs.values()]
        ):
            yield name, part


def _only(config: Any, kind: tuple[type, ...]) -> Any:
    def of_kind(entry: Any) -> Any:
        return entry if isinstance(entry, kind) else None

    return type(config)(
        global_config=of_kind(config.global_config),
        op_type_configs={name: of_kind(e) for name, e in config.op_type_configs.items()},
        op_name_configs={name: of_kind(e) for name, e in config.op_name_configs.items()},
    )


def _of_floats(config: Any, program: Any) -> Any:
    """Leave tables of integers alone: coremltools would round those that are large."""
    from coremltools.converters.mil.mil import types

    for operation in operations(program):
        if operation.op_type == "const" and not types.is_float(operation.outputs[0].dtype):
            config.op_name_configs[operation.name] = None
    return config


def operations(program: Any) -> Iterator[Any]:
    """Every operation of a pymil program, those of nested blocks included."""
    blocks = list(program.functions.values())
    while blocks:
        for operation in blocks.pop().operations:
            yield operation
            blocks += operation.blocks


def _run(name: str, config: Any, program: Any) -> None:
    from coremltools.converters.mil.mil.passes.pass_pipeline import (
        PassPipeline,
        PassPipelineManager,
    )

    pipeline = PassPipeline([f"compression::{name}"], "weights")
    pipeline.set_options(f"compression::{name}", {"config": config, "joint_compression": False})
    PassPipelineManager.apply_pipeline(program, pipeline)


@contextmanager
def _progress(bar: Callable[..., Any]) -> Iterator[None]:
    from coremltools.converters.mil.mil.passes import pass_pipeline
    from coremltools.optimize.coreml import _quantization_passes

    with (
        mock.patch.object(pass_pipeline, "tqdm", bar),
        mock.patch.object(_quantization_passes, "tqdm", bar),
    ):
        yield
