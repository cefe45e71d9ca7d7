"""Everything that a Core ML model's files can reach, on one input."""

from __future__ import annotations

import math
from contextlib import suppress

import numpy as np

from pteron.engines.base import CompiledModel, EngineOptions, ValueInfo
from pteron.engines.openvino import OpenVINOEngine
from pteron.errors import PteronError
from pteron.payloads.coreml.image_parts import directory_parts
from pteron.payloads.coreml.package import BACKEND_ID
from pteron.payloads.coreml.reader import READER
from pteron.payloads.sources import FilesSource
from tests.fuzz.model_files import Files

_ENGINE = OpenVINOEngine()
_MOST = 1 << 20
"""Elements of an input at most: a model may well ask for more, and then it is not called."""


def exercise_model(files: Files) -> bool:
    """Read, compile and call a model; whether it compiled. Anything but PteronError escapes."""
    source = FilesSource(BACKEND_ID, {path: memoryview(data) for path, data in files.items()})
    for look in (READER.summary, _constants, directory_parts):
        with suppress(PteronError):
            look(source)
    try:
        model = _ENGINE.compile_in_memory(source, EngineOptions(threads=1))
    except PteronError:
        return False
    _call(model)
    return True


def _constants(source: FilesSource) -> None:
    for constant in READER.constants(source):
        with suppress(PteronError):
            constant.read()


def _call(model: CompiledModel) -> None:
    session = model.new_session()
    for name, function in model.functions.items():
        shapes = [_shape(value) for value in function.inputs]
        if any(math.prod(shape) > _MOST for shape in shapes):
            continue
        inputs = [
            np.ones(shape, value.dtype)
            for shape, value in zip(shapes, function.inputs, strict=True)
        ]
        with suppress(PteronError):
            session.run(name, inputs)


def _shape(value: ValueInfo) -> tuple[int, ...]:
    if value.shapes:
        return value.shapes[0]
    if value.range:
        return tuple(low for low, _ in value.range)
    return tuple(size or 1 for size in value.shape)
