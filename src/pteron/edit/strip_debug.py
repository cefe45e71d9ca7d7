"""Leave out what only debuggers read."""

from __future__ import annotations

from dataclasses import replace

from pteron.files import PTEFile
from pteron.flatbuf import Buffer
from pteron.payloads.coreml.memfs import flatten, read_image
from pteron.payloads.coreml.package import BACKEND_ID, PACKAGE
from pteron.payloads.coreml.reference import read_reference

_COREML_DEBUG_FILES = ("debug_info.json", f"{PACKAGE}/executorch_debug_handle_mapping.json")
"""Source: ``executorch/backends/apple/coreml/compiler/coreml_preprocess.py``."""


def strip_stack_traces(file: PTEFile) -> PTEFile:
    """The program without the stack traces of its instructions (program.fbs, table Frame)."""
    parts = file.parts()
    for plan in parts.program.execution_plan:
        for chain in plan.chains:
            chain.stacktrace = None
    return PTEFile(**vars(parts))


def strip_payload_debug_info(file: PTEFile) -> PTEFile:
    """The program without the files in Core ML payloads that map operations to debug handles.

    Other payloads, and Core ML payloads without such files, stay byte for byte as they are.
    Raises FormatError for a Core ML payload that is damaged.
    """
    parts = file.parts()
    payloads, named = list(parts.delegate_payloads), dict(parts.named_data)
    for plan in parts.program.execution_plan:
        for delegate in plan.delegates:
            if delegate.id != BACKEND_ID:
                continue
            index = delegate.processed.index
            reference = read_reference(memoryview(payloads[index]))
            if reference is None:
                payloads[index] = _without_debug_files(payloads[index])
            elif reference.key in named:
                blob = named[reference.key]
                named[reference.key] = replace(blob, data=_without_debug_files(blob.data))
    parts.delegate_payloads, parts.named_data = payloads, named
    return PTEFile(**vars(parts))


def _without_debug_files(payload: Buffer) -> Buffer:
    image = read_image(payload)
    kept = {path: data for path, data in image.files.items() if path not in _COREML_DEBUG_FILES}
    return payload if len(kept) == len(image.files) else flatten(kept, root=image.root)
