"""Core ML itself, on macOS, through coremltools.

This engine cannot be exercised anywhere else. Its tests put a stand-in in coremltools' place and
check what it is asked, in which order; what Core ML answers they cannot check.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pteron.engines.base import CompiledModel, EngineOptions, FunctionInfo
from pteron.engines.description import described_functions
from pteron.errors import EngineError, MissingExtraError, StateError, UnsupportedError, UsageError
from pteron.payloads.base import PayloadSource
from pteron.payloads.coreml.package import BACKEND_ID, COMPILED, PACKAGE, CoreMLPackage

Array = NDArray[np.generic]


class AppleEngine:
    """Compiles and executes Core ML payloads with Core ML."""

    name = "coreml"
    backends = frozenset({BACKEND_ID})

    def __init__(self) -> None:
        self._coremltools = _import_coremltools()

    @property
    def version(self) -> str:
        return f"macOS {platform.mac_ver()[0]}"

    def device_features(self) -> Mapping[str, str]:
        return {"machine": platform.machine()}

    def compile(self, source: PayloadSource, options: EngineOptions, directory: Path) -> None:
        """Leave ``model.mlmodelc``, made from the payload's package."""
        with TemporaryDirectory() as temporary:
            _unpack(source, Path(temporary))
            package = str(Path(temporary) / PACKAGE)
            try:
                self._coremltools.models.utils.compile_model(package, str(directory / COMPILED))
            except (RuntimeError, OSError) as error:
                raise EngineError(f"Core ML cannot compile the payload: {error}") from error

    def load(self, source: PayloadSource, options: EngineOptions, directory: Path) -> CompiledModel:
        functions = described_functions(CoreMLPackage(source))
        return AppleModel(self._coremltools, str(directory / COMPILED), functions)

    def compile_in_memory(self, source: PayloadSource, options: EngineOptions) -> CompiledModel:
        """Core ML compiles into files only; these last as long as the compiled model."""
        temporary = TemporaryDirectory()
        self.compile(source, options, Path(temporary.name))
        functions = described_functions(CoreMLPackage(source))
        path = str(Path(temporary.name) / COMPILED)
        return AppleModel(self._coremltools, path, functions, keep=temporary)


class AppleModel:
    """One ``CompiledMLModel`` per function; states live in an ``MLState`` per session."""

    def __init__(
        self, coremltools: Any, path: str, functions: list[FunctionInfo], keep: Any = None
    ) -> None:
        self._functions = {info.name: info for info in functions}
        self._keep = keep
        several = len(functions) > 1
        self._models = {
            name: coremltools.models.CompiledMLModel(path, function_name=name if several else None)
            for name in self._functions
        }

    @property
    def functions(self) -> Mapping[str, FunctionInfo]:
        return self._functions

    def new_session(self) -> AppleSession:
        return AppleSession(self._functions, self._models, keep=self)


class AppleSession:
    """One stream: its ``MLState`` is made by the default function and given to all."""

    def __init__(
        self, functions: Mapping[str, FunctionInfo], models: Mapping[str, Any], keep: AppleModel
    ) -> None:
        self._functions, self._models, self._keep = functions, models, keep
        stateful = next((name for name, info in functions.items() if info.states), None)
        self._state: Any = models[stateful].make_state() if stateful else None
        self._infos = {s.name: s for info in functions.values() for s in info.states}

    def run(self, function: str, inputs: Sequence[Array]) -> list[Array]:
        info = self._functions.get(function)
        if info is None or len(inputs) != len(info.inputs):
            expected = f"{len(info.inputs)} inputs" if info else f"one of {list(self._functions)}"
            raise UsageError(f"function '{function}' with {len(inputs)} inputs; needs {expected}")
        named = {value.name: array for value, array in zip(info.inputs, inputs, strict=True)}
        try:
            outputs = self._models[function].predict(named, self._state)
        except RuntimeError as error:
            raise EngineError(f"function '{function}': {error}", function=function) from error
        return [np.array(outputs[value.name], dtype=value.dtype) for value in info.outputs]

    def read_state(self, name: str) -> Array:
        self._check(name)
        return np.array(self._state.read_state(name))

    def write_state(self, name: str, value: Array) -> None:
        self._check(name)
        info = self._infos[name]
        if value.dtype != info.dtype or value.shape != info.shape:
            raise StateError(f"state '{name}' is {info.dtype}{list(info.shape)}")
        self._state.write_state(name, value)

    def reset_state(self, name: str) -> None:
        self._check(name)
        info = self._infos[name]
        self._state.write_state(name, np.zeros([n or 0 for n in info.shape], info.dtype))

    def _check(self, name: str) -> None:
        if name not in self._infos:
            raise StateError(f"there is no state '{name}'")


def _import_coremltools() -> Any:
    if platform.system() != "Darwin":
        raise UnsupportedError("engine 'coreml' runs on macOS only; use engine 'openvino' here")
    try:
        import coremltools
    except ImportError as error:
        raise MissingExtraError("engine 'coreml'", "lower") from error
    return coremltools


def _unpack(source: PayloadSource, directory: Path) -> None:
    for path in source.paths():
        target = directory / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(source.read(path))
