"""Runs the test cases of a bundled program and compares what comes with what is expected."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pteron.dtypes import to_numpy
from pteron.errors import FormatError, UsageError
from pteron.files import BundledFile
from pteron.progress import steps
from pteron.runtime.arrays import Array
from pteron.runtime.memory import in_dim_order
from pteron.runtime.module import Module
from pteron.schema import bundled, program


@dataclass(frozen=True)
class Tolerance:
    """How far an output may be from the expected value: ``atol + rtol * abs(expected)``."""

    rtol: float
    atol: float


TOLERANCES: Mapping[str, Tolerance] = {
    "float64": Tolerance(1e-6, 1e-8),
    "float32": Tolerance(1e-3, 1e-5),
    "float16": Tolerance(1e-2, 1e-3),
    "bfloat16": Tolerance(2e-2, 1e-2),
}
"""By the output's dtype; every other dtype must be equal."""
EXACT = Tolerance(0.0, 0.0)
NOTHING_EXPECTED = "no expected outputs (pteron bundle --run computes them)"


@dataclass(frozen=True)
class Comparison:
    """One output of one test case, or a case whose outputs nothing can be compared with.

    Attributes:
        method: the method's name.
        case: position among the method's cases.
        output: the output's name; ``""`` for a case without expected outputs, which fails.
        passed: whether every element is within the tolerance.
        largest: largest absolute difference; infinite where shapes differ.
        tolerance: what was allowed.
        note: why it cannot be compared, or ``""``.
    """

    method: str
    case: int
    output: str
    passed: bool
    largest: float
    tolerance: Tolerance
    note: str = ""


def verify(
    bundle: BundledFile, module: Module, tolerances: Mapping[str, Tolerance] = TOLERANCES
) -> Iterator[Comparison]:
    """Run every case of every method, each from the state's first values.

    A case without expected outputs is run, and fails: that it passed would say nothing. Raises
    UsageError for a case that does not fit its method.
    """
    for suite in bundle.test_suites:
        method = module.method(suite.method_name)
        for number, case in enumerate(steps(f"verify {suite.method_name}", suite.test_cases)):
            module.state.reset()
            where = f"method '{suite.method_name}', case {number}"
            outputs = method(*(value_of(value, where) for value in case.inputs))
            expected = [value_of(value, where) for value in case.expected_outputs]
            if outputs and not expected:
                yield Comparison(
                    suite.method_name, number, "", False, float("inf"), EXACT, NOTHING_EXPECTED
                )
                continue
            if len(expected) != len(outputs):
                raise UsageError(f"{where}: {len(expected)} outputs expected, {len(outputs)} came")
            names = [parameter.name for parameter in method.outputs]
            for name, output, value in zip(names, outputs, expected, strict=True):
                yield compare(suite.method_name, number, name, output, value, tolerances)


def compare(
    method: str,
    case: int,
    name: str,
    output: Any,
    expected: Any,
    tolerances: Mapping[str, Tolerance],
) -> Comparison:
    """Compare one output. NaN equals NaN, and an infinity only itself."""
    got, wanted = np.asarray(output), np.asarray(expected)
    tolerance = tolerances.get(got.dtype.name, EXACT)
    if got.shape != wanted.shape:
        note = f"shape {list(got.shape)}, expected {list(wanted.shape)}"
        return Comparison(method, case, name, False, float("inf"), tolerance, note)
    a, b = _wide(got), _wide(wanted)
    with np.errstate(invalid="ignore"):
        difference = np.abs(a - b)
        same = (a == b) | (np.isnan(a) & np.isnan(b))
        near = difference <= tolerance.atol + tolerance.rtol * np.abs(b)
        passed = same | (near & np.isfinite(b))
    largest = float(np.max(np.where(same, 0, difference), initial=0))
    return Comparison(method, case, name, bool(passed.all()), largest, tolerance)


def _wide(array: Array) -> Array:
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def value_of(value: bundled.Value, where: str) -> Any:
    """A test case's value as an array or a Python number."""
    match value.val:
        case bundled.Tensor() as tensor:
            return _array(tensor, where)
        case program.Int() as number:
            return number.int_val
        case program.Bool() as flag:
            return flag.bool_val
        case program.Double() as number:
            return number.double_val
        case other:
            raise FormatError(f"has a value of type {type(other).__name__}", where=where)


def _array(tensor: bundled.Tensor, where: str) -> Array:
    dtype = to_numpy(tensor.scalar_type)
    count = int(np.prod(tensor.sizes, dtype=np.int64))
    if len(tensor.data) != count * dtype.itemsize:
        raise FormatError(
            f"a {dtype.name} tensor of sizes {tensor.sizes} has {len(tensor.data)} bytes",
            where=where,
        )
    return in_dim_order(np.frombuffer(tensor.data, dtype), tensor.sizes, tensor.dim_order)
