"""A package in the form of a compiled model: its program printed, its description wrapped."""

from __future__ import annotations

import json
import struct

from pteron.payloads.coreml.package import BACKEND_ID, CoreMLPackage
from pteron.payloads.coreml.text import parse_program
from pteron.payloads.sources import FilesSource
from tests.payloads.mil_printer import Printer


def as_compiled(source: FilesSource, short: bool = True) -> FilesSource:
    """The same model as a compiled one."""
    package = CoreMLPackage(source)
    text = Printer(short).program(package.program).encode()
    files = {
        "model.mlmodelc/model.mil": memoryview(text),
        "model.mlmodelc/coremldata.bin": memoryview(coremldata(package)),
    }
    folder = package.model_path.rpartition("/")[0]
    for path in source.paths():
        if "/weights/" in path:
            files["model.mlmodelc" + path.removeprefix(folder)] = source.read(path)
    return FilesSource(BACKEND_ID, files)


def as_compiled_pipeline(source: FilesSource) -> FilesSource:
    """A pipeline of programs as a compiled one, laid out as published ones are listed.

    Nobody has published the layout of the outer ``coremldata.bin``: this one has another kind's
    number and nothing else, and ``metadata.json`` the names.
    """
    package = CoreMLPackage(source)
    description = package.model.description
    metadata = {
        "inputSchema": [{"name": feature.name} for feature in description.input],
        "outputSchema": [{"name": feature.name} for feature in description.output],
    }
    files = {
        "model.mlmodelc/coremldata.bin": memoryview(struct.pack("<I", 202)),
        "model.mlmodelc/metadata.json": memoryview(json.dumps([metadata]).encode()),
    }
    folder = package.model_path.rpartition("/")[0]
    for index, stage in enumerate(package.stages):
        inner = f"model.mlmodelc/model{index}"
        text = Printer(True).program(stage.program).encode()
        files[f"{inner}/model.mil"] = memoryview(text)
        files[f"{inner}/coremldata.bin"] = memoryview(coremldata(stage))
        weights = f"weights/{index}-weight.bin"
        if f"{folder}/{weights}" in source.paths():
            files[f"{inner}/{weights}"] = source.read(f"{folder}/{weights}")
    return FilesSource(BACKEND_ID, files)


def coremldata(package: CoreMLPackage) -> bytes:
    description = package.model.description.SerializeToString()
    head = struct.pack("<II20xQ7sI28x", 502, 5, 7, b"generic", package.model.specificationVersion)
    return head + struct.pack("<Q", len(description)) + description + bytes(16)


def check_text_form(source: FilesSource) -> None:
    """The program printed and read back is the program."""
    program = CoreMLPackage(source).program
    for short in (False, True):
        again = parse_program(Printer(short).program(program).encode(), "model.mil")
        assert again == program
