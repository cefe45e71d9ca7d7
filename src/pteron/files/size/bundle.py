"""The parts of a bundled program: the program, and the tensors of its test cases."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pteron.dtypes import scalar_type_name
from pteron.files.bundled_file import BundledFile
from pteron.files.size.layout import Blob, placed, tables
from pteron.files.size.program import program_parts
from pteron.payloads import Part
from pteron.schema.bundled import BundledMethodTestSuite, Tensor, Value


def bundle_parts(file: BundledFile, view: memoryview) -> Part:
    """A bundled program that was opened from ``view``."""
    program = memoryview(file.bundle.program)
    blobs = [(program, program_parts(file.pte, program))]
    blobs += (blob for suite in file.test_suites for blob in _cases(suite))
    parts = tables(placed(blobs, view), len(view))
    return Part("bundled program", "file", 0, len(view), children=parts)


def _cases(suite: BundledMethodTestSuite) -> Iterator[Blob]:
    for number, case in enumerate(suite.test_cases):
        where = f"{suite.method_name}: test case {number}"
        yield from _values(case.inputs, f"{where}: input")
        yield from _values(case.expected_outputs, f"{where}: output")


def _values(values: Iterable[Value], what: str) -> Iterator[Blob]:
    for index, value in enumerate(values):
        if isinstance(tensor := value.val, Tensor):
            data = memoryview(tensor.data)
            dtype = scalar_type_name(tensor.scalar_type)
            shape = tuple(tensor.sizes)
            yield data, Part(f"{what} {index}", "tensor", 0, len(data), dtype, shape)
