"""Which functions a package has, and which constants they take from weight files."""

from __future__ import annotations

from collections.abc import Iterator

from pteron.payloads.coreml.package import CoreMLPackage
from pteron.payloads.coreml.program import BlobUse, blob_uses


def function_names(package: CoreMLPackage) -> list[str]:
    """Function names, the default one first (the format's map has no order of its own)."""
    default = package.model.description.defaultFunctionName or "main"
    return sorted(package.program.functions, key=lambda name: (name != default, name))


def named_uses(package: CoreMLPackage) -> Iterator[tuple[str, BlobUse]]:
    """Every use by name, with the function's before it where there are several functions."""
    names = function_names(package)
    for function in names:
        prefix = f"{function}/" if len(names) > 1 else ""
        for use in blob_uses(package.program.functions[function]):
            yield prefix + use.name, use
