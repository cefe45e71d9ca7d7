"""Core ML packages for tests, made by coremltools from torch modules and from its MIL builder."""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import coremltools as ct
import numpy as np
import torch

from pteron.engines.base import CompiledModel, EngineOptions
from pteron.engines.openvino import OpenVINOEngine
from pteron.payloads.coreml.package import directory_source
from pteron.payloads.sources import FilesSource
from tests.engines.compiled_form import check_text_form

ENGINE = OpenVINOEngine()


def source_of(model: Any) -> FilesSource:
    """The payload source of a coremltools model."""
    directory = Path(tempfile.mkdtemp(suffix=".mlpackage"))
    model.save(str(directory))
    made = directory_source(directory)
    check_text_form(made)
    return made


def convert(
    module: torch.nn.Module, inputs: Sequence[torch.Tensor], precision: str = "fp16", **options: Any
) -> FilesSource:
    """Convert a torch module through torch.export; mutable buffers become states."""
    program = torch.export.export(copy.deepcopy(module).eval(), tuple(inputs)).run_decompositions()
    kinds = {"fp16": ct.precision.FLOAT16, "fp32": ct.precision.FLOAT32}
    options.setdefault("minimum_deployment_target", ct.target.iOS18)
    model = ct.convert(program, skip_model_load=True, compute_precision=kinds[precision], **options)
    return source_of(model)


def compile_and_load(source: FilesSource, options: EngineOptions, directory: Path) -> CompiledModel:
    """Compiled by way of a cache's files."""
    ENGINE.compile(source, options, directory)
    return ENGINE.load(source, options, directory)


def computes_in(hint: str) -> bool:
    """Whether this processor has arithmetic in ``f32``, ``f16`` or ``bf16``."""
    capability = {"f32": "FP32", "f16": "FP16", "bf16": "BF16"}[hint]
    return capability in ENGINE.device_features()["capabilities"].split()


def compile_source(source: FilesSource, precision: str = "model") -> CompiledModel:
    return ENGINE.compile_in_memory(source, EngineOptions(precision=precision))


def mil_program(
    build: Callable[..., Any], inputs: dict[str, Any], target: Any = ct.target.iOS18
) -> FilesSource:
    """A program that ``build`` writes with coremltools' MIL builder, as fp32 where it says so."""
    from coremltools.converters.mil import Builder
    from coremltools.converters.mil.mil import types

    kinds = {
        "float16": types.fp16,
        "float32": types.fp32,
        "int32": types.int32,
        "bool": types.bool,
        "int8": types.int8,
        "uint8": types.uint8,
        "int16": types.int16,
        "uint16": types.uint16,
    }
    specs = [
        Builder.TensorSpec(shape=shape, dtype=kinds[dtype]) for dtype, shape in inputs.values()
    ]
    function = _with_parameters(build, list(inputs))
    program = Builder.program(input_specs=specs, opset_version=target)(function)
    model = ct.convert(
        program,
        skip_model_load=True,
        convert_to="mlprogram",
        minimum_deployment_target=target,
        compute_precision=ct.precision.FLOAT32,
        pass_pipeline=ct.PassPipeline.EMPTY,
    )
    return source_of(model)


def _with_parameters(build: Callable[..., Any], names: list[str]) -> Callable[..., Any]:
    """``build`` under a signature with these parameter names, which the MIL builder looks at."""
    arguments = ", ".join(names)
    scope: dict[str, Any] = {"build": build}
    exec(f"def program({arguments}):\n    return build({arguments})", scope)
    function: Callable[..., Any] = scope["program"]
    return function


def run(source: FilesSource, *inputs: np.ndarray, precision: str = "model") -> list[np.ndarray]:
    """Compile and call the default function once."""
    compiled = compile_source(source, precision)
    return compiled.new_session().run(next(iter(compiled.functions)), list(inputs))
