"""What is inside a delegate: a graph where pteron can read it, else what kinds of operation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pteron.errors import UnsupportedError
from pteron.files.methods import Delegate
from pteron.files.parts import named_views
from pteron.files.program_file import PTEFile
from pteron.files.state_names import declared_state_names
from pteron.files.summary import payload_summary
from pteron.payloads import PayloadSummary, open_payload
from pteron.payloads.coreml.package import BACKEND_ID, CoreMLPackage
from pteron.payloads.coreml.uses import named_functions
from pteron.report.guard import guarded
from pteron.report.mil import mil_function


def payload_graph(file: PTEFile, delegate: Delegate) -> dict[str, Any]:
    """The functions of a Core ML program with their operations; of other payloads a summary."""
    described = {"backend": delegate.backend_id, "bytes": len(delegate.payload)}
    inside: dict[str, Any] = guarded(_inside, file, delegate)
    return described | inside


def _inside(file: PTEFile, delegate: Delegate) -> dict[str, Any]:
    summary = payload_summary(file, delegate)
    if delegate.backend_id != BACKEND_ID:
        return _summarised(summary)
    try:
        functions = list(_functions(_package(file, delegate), delegate))
    except UnsupportedError:  # no ML program, or one that only Core ML itself reads
        return _summarised(summary)
    return {"format": summary.format, "functions": functions}


def _package(file: PTEFile, delegate: Delegate) -> CoreMLPackage:
    blobs = named_views(file.named_data)
    return CoreMLPackage(
        open_payload(delegate.backend_id, delegate.payload, blobs, delegate.method)
    )


def _functions(package: CoreMLPackage, delegate: Delegate) -> Iterator[dict[str, Any]]:
    """The function that the delegate calls; all of them where it calls the default one."""
    called = package.source.function
    names = declared_state_names(delegate)
    for name, function in named_functions(package).items():
        if called in (None, name):
            yield mil_function(name, function, names)


def _summarised(summary: PayloadSummary) -> dict[str, Any]:
    return {
        "format": summary.format,
        "kinds": [
            {"name": function.name, "operations": dict(function.operations)}
            for function in summary.functions
        ],
    }
