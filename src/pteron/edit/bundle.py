"""Put a program and its test cases into one file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pteron.dtypes import scalar_type_name, to_numpy
from pteron.edit.cases import Case, Cases, in_order
from pteron.edit.plans import require_methods
from pteron.edit.tensor_bytes import Array, in_dim_order, in_native_order
from pteron.errors import UnsupportedError, UsageError
from pteron.files import BundledFile, PTEFile, ValueInfo
from pteron.schema import bundled
from pteron.schema.bundled import BundledMethodTestCase, BundledMethodTestSuite, Value
from pteron.schema.program import Bool, Double, Int, TensorShapeDynamism


def bundle(file: PTEFile, cases: Cases) -> BundledFile:
    """The program, byte for byte, with test cases for its methods.

    Every input is checked against its method: its name, dtype, and shape, up to the bounds of a
    dynamic one. Expected outputs may be left out, all of a case or none.

    Raises:
        FormatError: the program is damaged.
        UsageError: a case does not fit its method.
        UnsupportedError: a value that bundles cannot hold: all but tensors, int, bool and float.
    """
    file.parts()  # reads all that the program refers to: a damaged one is found here, not later
    require_methods(file.program, cases)
    methods = file.methods
    suites = [
        BundledMethodTestSuite(
            name,
            [
                _test_case(case, methods[name].inputs, methods[name].outputs, f"{name}, case {i}")
                for i, case in enumerate(cases[name])
            ],
        )
        for name in sorted(cases)
    ]
    return BundledFile(file, suites)


def _test_case(
    case: Case, inputs: Sequence[ValueInfo], outputs: Sequence[ValueInfo], where: str
) -> BundledMethodTestCase:
    expected = _values(case.outputs, outputs, f"{where}, output") if case.outputs else []
    return BundledMethodTestCase(_values(case.inputs, inputs, f"{where}, input"), expected)


def _values(given: Mapping[str, Array], infos: Sequence[ValueInfo], where: str) -> list[Value]:
    arrays = in_order(given, [info.name for info in infos], where)
    return [
        _value(info, array, f"{where} {info.name!r}")
        for info, array in zip(infos, arrays, strict=True)
    ]


def _value(info: ValueInfo, array: Array, where: str) -> Value:
    if info.dtype is not None:
        return Value(_tensor(info, array, where))
    table, codes = _SCALARS.get(info.kind, (None, ""))
    if table is None:
        raise UnsupportedError(f"{where}: a bundle cannot hold a value of kind {info.kind}")
    if array.shape or array.dtype.kind not in codes:
        raise UsageError(f"{where}: expected one {info.kind}, got {_shown(array)}")
    return Value(table(array.item()))


_SCALARS: dict[str, tuple[type[Int] | type[Double] | type[Bool], str]] = {
    "Int": (Int, "iu"),
    "Double": (Double, "fiu"),
    "Bool": (Bool, "b"),
}
"""Kind of a value -> its table, and the kinds of NumPy dtypes that it takes."""


def _tensor(info: ValueInfo, array: Array, where: str) -> bundled.Tensor:
    assert info.dtype is not None and info.shape is not None and info.dim_order is not None
    array = in_native_order(array, to_numpy(info.dtype))
    if array.dtype != to_numpy(info.dtype) or not _fits(array.shape, info):
        bound = "up to " if info.dynamism == TensorShapeDynamism.DYNAMIC_BOUND else ""
        expected = f"{scalar_type_name(info.dtype)}{bound}{list(info.shape)}"
        raise UsageError(f"{where}: expected {expected}, got {_shown(array)}")
    return bundled.Tensor(
        scalar_type=info.dtype,
        sizes=list(array.shape),
        data=in_dim_order(array, list(info.dim_order), where),
        dim_order=list(info.dim_order),
    )


def _fits(shape: tuple[int, ...], info: ValueInfo) -> bool:
    assert info.shape is not None
    if info.dynamism == TensorShapeDynamism.STATIC:
        return shape == info.shape
    bounded = info.dynamism == TensorShapeDynamism.DYNAMIC_BOUND
    return len(shape) == len(info.shape) and (
        not bounded or all(size <= most for size, most in zip(shape, info.shape, strict=True))
    )


def _shown(array: Array) -> str:
    return f"{array.dtype.name}{list(array.shape)}"
