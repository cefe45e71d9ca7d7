"""Take the test cases out of a bundled program."""

from __future__ import annotations

import numpy as np

from pteron.dtypes import to_numpy
from pteron.edit.tensor_bytes import Array
from pteron.errors import FormatError
from pteron.files import BundledFile
from pteron.schema.bundled import Tensor, Value
from pteron.schema.program import Bool, Double, Int


def arrays_from_bundle(file: BundledFile) -> dict[str, Array]:
    """The test cases as arrays by key, as :func:`pteron.edit.cases.cases_from_arrays` takes them.

    Inputs and outputs are named by position. Raises FormatError for a case that is damaged.
    """
    arrays: dict[str, Array] = {}
    for suite in file.test_suites:
        for number, case in enumerate(suite.test_cases):
            for role, values in (("input", case.inputs), ("output", case.expected_outputs)):
                for position, value in enumerate(values):
                    key = f"{suite.method_name}/{number}/{role}/{position}"
                    arrays[key] = _array(value, key)
    return arrays


def _array(value: Value, where: str) -> Array:
    content = value.val
    if isinstance(content, Int):
        return np.asarray(content.int_val)
    if isinstance(content, Double):
        return np.asarray(content.double_val)
    if isinstance(content, Bool):
        return np.asarray(content.bool_val)
    if content is None:
        raise FormatError("holds no value", where=where)
    return _tensor(content, where)


def _tensor(content: Tensor, where: str) -> Array:
    order = content.dim_order or list(range(len(content.sizes)))
    if sorted(order) != list(range(len(content.sizes))):
        raise FormatError(f"dim order {order} does not fit {content.sizes}", where=where)
    dtype = to_numpy(content.scalar_type)
    data = memoryview(content.data)
    if (
        min(content.sizes, default=1) < 0
        or len(data) != np.prod(content.sizes, dtype=object) * dtype.itemsize
    ):
        raise FormatError(f"{len(data)} bytes for {content.sizes} of {dtype.name}", where=where)
    stored = np.frombuffer(data, dtype).reshape([content.sizes[dim] for dim in order])
    return stored.transpose(np.argsort(order))
