"""Which functions a package has, and which constants they take from weight files."""

from __future__ import annotations

from collections.abc import Iterator

from pteron.payloads.coreml.package import CoreMLPackage
from pteron.payloads.coreml.program import BlobUse, blob_uses
from pteron.payloads.coreml.proto import mil_pb2 as mil


def named_functions(package: CoreMLPackage) -> dict[str, mil.Function]:
    """Functions by name, in the order of :func:`function_names`.

    Those of a pipeline's models have the model's place before their name: ``0/main``.
    """
    stages = package.stages
    return {
        f"{index}/{name}" if package.is_pipeline else name: stage.program.functions[name]
        for index, stage in enumerate(stages)
        for name in function_names(stage)
    }


def function_names(package: CoreMLPackage) -> list[str]:
    """Function names of a model that is no pipeline, the default one first.

    The format's map has no order of its own.
    """
    default = package.model.description.defaultFunctionName or "main"
    return sorted(package.program.functions, key=lambda name: (name != default, name))


def named_uses(package: CoreMLPackage) -> Iterator[tuple[str, BlobUse]]:
    """Every use by name, with the function's before it where there are several functions."""
    functions = named_functions(package)
    for name, function in functions.items():
        prefix = f"{name}/" if len(functions) > 1 else ""
        for use in blob_uses(function):
            yield prefix + use.name, use
