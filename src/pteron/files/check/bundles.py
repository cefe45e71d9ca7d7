"""Bundled test cases against the methods that they test."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pteron.dtypes import scalar_type_name
from pteron.errors import PteronError
from pteron.files.bundled_file import BundledFile
from pteron.files.check.finding import Finding, error, warning
from pteron.files.check.names import duplicates
from pteron.files.check.tensors import SCALAR_TYPES
from pteron.files.methods import Method, ValueInfo
from pteron.files.tensors import layout_byte_size
from pteron.schema import bundled
from pteron.schema import program as schema


def check_bundle(bundle: BundledFile) -> Iterator[Finding]:
    """Suites for methods that do not exist, and cases that do not fit theirs."""
    suites = bundle.test_suites
    names = (suite.method_name for suite in suites)
    yield from duplicates("method_test_suites", "method_name", names)
    try:
        methods = bundle.pte.methods
    except PteronError:
        return  # what is wrong with the program is found where it is checked
    for number, suite in enumerate(suites):
        where = f"method_test_suites[{number}]"
        method = methods.get(suite.method_name)
        if method is None:
            yield error(f"{where}.method_name", f"there is no method {suite.method_name!r:.80}")
            continue
        if not suite.test_cases:
            yield warning(f"{where}.test_cases", "there are none")
        yield from check_cases(suite.test_cases, method, f"{where}.test_cases")


def check_cases(
    cases: Sequence[bundled.BundledMethodTestCase], method: Method, where: str = "test_cases"
) -> Iterator[Finding]:
    """Cases whose values do not fit the inputs and outputs of ``method``."""
    try:
        inputs, outputs = method.inputs, method.outputs
    except PteronError:
        return
    for index, case in enumerate(cases):
        yield from _check_values(case.inputs, inputs, f"{where}[{index}].inputs")
        if case.expected_outputs:
            yield from _check_values(
                case.expected_outputs, outputs, f"{where}[{index}].expected_outputs"
            )


def _check_values(
    values: Sequence[bundled.Value], expected: Sequence[ValueInfo], where: str
) -> Iterator[Finding]:
    if len(values) != len(expected):
        yield error(where, f"{len(values)} values for {len(expected)} of the method")
        return
    for index, (value, info) in enumerate(zip(values, expected, strict=True)):
        at = f"{where}[{index}].val"
        if value.val is None:
            yield error(at, "has no type (union tag 0, or one of a newer schema)")
        elif type(value.val).__name__ != info.kind:
            yield error(at, f"a {type(value.val).__name__} for {info.name}, a {info.kind}")
        elif isinstance(value.val, bundled.Tensor) and isinstance(info.value, schema.Tensor):
            yield from _check_tensor(value.val, info.value, at)


def _check_tensor(given: bundled.Tensor, expected: schema.Tensor, where: str) -> Iterator[Finding]:
    if given.scalar_type != expected.scalar_type:
        yield error(
            f"{where}.scalar_type",
            f"{scalar_type_name(given.scalar_type)} for {scalar_type_name(expected.scalar_type)}",
        )
    elif given.scalar_type in SCALAR_TYPES and all(size >= 0 for size in given.sizes):
        size = layout_byte_size(given)
        if size != len(given.data):
            yield error(f"{where}.data", f"{len(given.data)} bytes for shape {given.sizes}")
    if not _fits(given.sizes, expected):
        yield error(f"{where}.sizes", f"{given.sizes} does not fit {expected.sizes}")


def _fits(sizes: Sequence[int], expected: schema.Tensor) -> bool:
    if expected.shape_dynamism == schema.TensorShapeDynamism.DYNAMIC_UNBOUND:
        return len(sizes) == len(expected.sizes)
    if expected.shape_dynamism == schema.TensorShapeDynamism.DYNAMIC_BOUND:
        return len(sizes) == len(expected.sizes) and all(
            0 <= size <= bound for size, bound in zip(sizes, expected.sizes, strict=True)
        )
    return list(sizes) == list(expected.sizes)
