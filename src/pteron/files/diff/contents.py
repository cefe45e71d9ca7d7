"""Every tensor of a file under the section it belongs to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from pteron.dtypes import scalar_type_name
from pteron.errors import PteronError
from pteron.files.bundled_file import BundledFile
from pteron.files.data_file import PTDFile
from pteron.files.diff.tensors import NamedTensor
from pteron.files.methods import Delegate
from pteron.files.parts import NamedBlob
from pteron.files.program_file import PTEFile
from pteron.files.stored import StoredTensor, stored_constants, stored_initial_values
from pteron.files.tensor_arrays import raw_array, tensor_array
from pteron.payloads import find_reader
from pteron.payloads.registry import BytesMapping
from pteron.schema.bundled import Tensor, Value

Section = tuple[str, ...]


def program_tensors(file: PTEFile) -> dict[Section, dict[str, NamedTensor]]:
    """Constants, initial values and named data, and the weights of each delegate's payload."""
    named = {key: _named(key, blob) for key, blob in file.named_data.items()}
    sections: dict[Section, dict[str, NamedTensor]] = {
        ("constants",): dict(_stored(stored_constants(file))),
        ("initial_values",): dict(_stored(stored_initial_values(file))),
        ("named_data",): named,
    }
    for delegate in file.delegates:
        where = ("delegates", f"{delegate.method}[{delegate.index}]", "weights")
        sections[where] = dict(_weights(file, delegate))
    return sections


def data_tensors(file: PTDFile) -> dict[str, NamedTensor]:
    """The blobs of a data file."""
    return {key: _named(key, blob) for key, blob in file.named_data.items()}


def bundle_tensors(file: BundledFile) -> dict[str, NamedTensor]:
    """Inputs and expected outputs of every test case; a number is a tensor of no dimensions."""
    return {
        f"{suite.method_name}: case {number}: {what} {index}": _case_value(value)
        for suite in file.test_suites
        for number, case in enumerate(suite.test_cases)
        for what, values in (("input", case.inputs), ("output", case.expected_outputs))
        for index, value in enumerate(values)
    }


def _stored(stored: Iterable[StoredTensor]) -> Iterator[tuple[str, NamedTensor]]:
    for one in stored:
        yield one.name, _tensor(one.tensor, one.data, one.name)


def _named(key: str, blob: NamedBlob) -> NamedTensor:
    return _tensor(blob.tensor_layout, memoryview(blob.data), key)


def _tensor(layout: Any, data: memoryview, where: str) -> NamedTensor:
    if layout is None:
        return NamedTensor("", (len(data),), data, partial(raw_array, data))
    read = partial(tensor_array, layout, data, where)
    return NamedTensor(
        scalar_type_name(layout.scalar_type),
        tuple(layout.sizes),
        data,
        read,
        tuple(layout.dim_order),
    )


def _case_value(value: Value) -> NamedTensor:
    import numpy as np

    tensor = value.val
    if isinstance(tensor, Tensor):
        return _tensor(tensor, memoryview(tensor.data), "test case")
    number = next((getattr(tensor, name) for name in _NUMBERS if hasattr(tensor, name)), 0)
    array = np.asarray(number)
    data = memoryview(array.tobytes())
    return NamedTensor(array.dtype.name, (), data, partial(np.asarray, number))


_NUMBERS = ("int_val", "bool_val", "double_val")


def _weights(file: PTEFile, delegate: Delegate) -> Iterator[tuple[str, NamedTensor]]:
    reader = find_reader(delegate.backend_id)
    if reader is None:
        return
    try:
        source = reader.open(delegate.payload, BytesMapping(file.named_data), delegate.method)
        constants = reader.constants(source)
    except PteronError:
        return  # the payload's files are compared all the same
    for one in constants:
        yield one.name, NamedTensor(one.dtype, one.shape, one.data, one.read)
