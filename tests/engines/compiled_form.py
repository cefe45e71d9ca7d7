"""A package in the form of a compiled model: its program printed, its description wrapped."""

from __future__ import annotations

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
