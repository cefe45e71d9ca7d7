"""Bundled programs, identifier BP08: ``bundled_program_schema.fbs`` of ExecuTorch 1.5, declared."""

from __future__ import annotations

from dataclasses import dataclass

from pteron.dtypes import ScalarType
from pteron.flatbuf import (
    INT8,
    INT32,
    UINT8,
    UINT32,
    Table,
    blob,
    scalar,
    string,
    tables,
    union,
    vector,
)
from pteron.flatbuf import Buffer as Bytes
from pteron.schema.program import Bool, Double, Int

IDENTIFIER = b"BP08"
VERSION = 2
"""Source: ``executorch/devtools/bundled_program/version.py``."""


@dataclass(slots=True)
class Tensor(Table):
    """A tensor of a test case, with its contents."""

    scalar_type: ScalarType = scalar(INT8, "Element type.", enum=ScalarType)
    sizes: list[int] = vector(INT32, "Shape.")
    data: Bytes = blob("Contents.", alignment=16)
    dim_order: list[int] = vector(UINT8, "Dimensions from outermost to innermost.")


ValueUnion = Tensor | Int | Bool | Double


@dataclass(slots=True)
class Value(Table):
    """One input or expected output."""

    val: ValueUnion | None = union([Tensor, Int, Bool, Double], "The value.")


@dataclass(slots=True)
class BundledMethodTestCase(Table):
    """Inputs and the outputs that they must give."""

    inputs: list[Value] = tables(Value, "In the order of the method's inputs.")
    expected_outputs: list[Value] = tables(Value, "In the order of the method's outputs.")


@dataclass(slots=True)
class BundledMethodTestSuite(Table):
    """The test cases of one method."""

    method_name: str = string("The method.")
    test_cases: list[BundledMethodTestCase] = tables(BundledMethodTestCase, "Its cases.")


@dataclass(slots=True)
class BundledProgram(Table):
    """The root of a bundled program."""

    version: int = scalar(UINT32, "Schema version.")
    method_test_suites: list[BundledMethodTestSuite] = tables(
        BundledMethodTestSuite, "Test cases, by method."
    )
    program: Bytes = blob("The program file, byte for byte.", alignment=32)
