"""The engine itself: how a Core ML payload is compiled, kept and loaded with OpenVINO."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from pteron.engines.base import Compilation, CompiledModel, EngineOptions
from pteron.engines.description import function_names
from pteron.engines.openvino import compiled, device
from pteron.engines.openvino._import import ov
from pteron.engines.openvino.build import build
from pteron.engines.openvino.compiled import OpenVINOCompiledModel
from pteron.engines.openvino.function import CompiledFunction, StatePages
from pteron.engines.openvino.passes import Page, Target, rewrite
from pteron.engines.openvino.precision import (
    check,
    compile_properties,
    profiling,
    weight_bytes,
)
from pteron.engines.openvino.threads import one_thread
from pteron.engines.openvino.variables import variable_bytes
from pteron.errors import EngineError
from pteron.payloads.base import PayloadSource
from pteron.payloads.coreml.package import BACKEND_ID, CoreMLPackage
from pteron.payloads.coreml.traffic import weights_read
from pteron.payloads.resident import give_back
from pteron.progress import stage


class OpenVINOEngine:
    """Compiles Core ML programs for this machine's processor."""

    name = "openvino"
    backends = frozenset({BACKEND_ID})

    @property
    def version(self) -> str:
        return device.version()

    def device_features(self) -> Mapping[str, str]:
        return device.features()

    def compile(self, source: PayloadSource, options: EngineOptions, directory: Path) -> None:
        compiled.save(list(_compile(source, options, to_save=True)), directory)

    def load(self, source: PayloadSource, options: EngineOptions, directory: Path) -> CompiledModel:
        return OpenVINOCompiledModel(compiled.load(directory, options, _core()))

    def compile_in_memory(self, source: PayloadSource, options: EngineOptions) -> CompiledModel:
        return OpenVINOCompiledModel(list(_compile(source, options)))


@cache
def _core() -> Any:
    return ov.Core()


def _compile(
    source: PayloadSource, options: EngineOptions, to_save: bool = False
) -> Iterator[CompiledFunction]:
    check(options)
    package, size = CoreMLPackage(source), weight_bytes(source)
    for name in function_names(package):
        functions = [stage.program.functions[name] for stage in package.stages]
        properties = compile_properties(options, functions, size)
        with stage(f"translate {name}"):
            built = build(package, name)
            target = Target(
                properties["INFERENCE_PRECISION_HINT"],
                exact=options.precision == "f32",
                one_thread=one_thread(properties),
            )
            rewrites = rewrite(built.model, target)
        give_back(source)  # it was read to be digested, and in parts to be copied by a rewrite
        graph = built.model if target.pages and to_save else None
        model = None
        if graph is None:
            with stage(f"compile {name}"):
                model = _compile_model(name, built.model, properties | profiling(options))
        yield CompiledFunction(
            built.info,
            model,
            properties,
            built.labels,
            compilation=Compilation(
                rewrites,
                state_bytes_copied=variable_bytes(built.model),
                weight_bytes=weights_read(package, name),
            ),
            pages=tuple(_pages(built.model, page) for page in target.pages),
            graph=graph,
            checks=built.checks,
        )


def _compile_model(name: str, model: Any, properties: Mapping[str, Any]) -> Any:
    try:
        return _core().compile_model(model, "CPU", dict(properties))
    except RuntimeError as error:
        message = f"function '{name}': OpenVINO cannot compile it: {error}"
        raise EngineError(message, function=name) from error


def _pages(model: Any, page: Page) -> StatePages:
    shape = tuple(page.parameter.get_partial_shape().to_shape())
    return StatePages(page.state, model.get_parameter_index(page.parameter), shape, page.shape[2])
