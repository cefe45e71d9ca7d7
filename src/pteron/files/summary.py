"""What is in a file, as plain data: the answer of ``pteron inspect``, for people and programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from enum import IntEnum
from math import prod
from typing import TYPE_CHECKING, Any

from pteron.dtypes import itemsize, scalar_type_name
from pteron.errors import PteronError, UnsupportedError
from pteron.files.bundled_file import BundledFile
from pteron.files.data_file import PTDFile
from pteron.files.methods import Delegate, Method, ValueInfo
from pteron.files.mutable_buffers import state_values
from pteron.files.operators import kernel_calls
from pteron.files.parts import named_views
from pteron.files.program_file import PTEFile
from pteron.files.segment_uses import segment_uses
from pteron.files.state_names import declared_state_names
from pteron.payloads import find_reader
from pteron.progress import stage
from pteron.schema.program import Tensor

if TYPE_CHECKING:
    from pteron.payloads import PayloadSummary


@stage("read")
def summarise(file: PTEFile | PTDFile | BundledFile) -> dict[str, Any]:
    """A JSON-able description of any file that pteron opens. Sizes are in bytes."""
    if isinstance(file, BundledFile):
        return {
            "kind": "bundled program",
            "path": file.path,
            "bytes": file.size,
            "test_suites": {s.method_name: len(s.test_cases) for s in file.test_suites},
            "program": summarise(file.pte),
        }
    if isinstance(file, PTDFile):
        described = {"kind": "data", "path": file.path, "bytes": file.size}
        return described | {"named_data": _named_data(file)}
    return {"kind": "program", "path": file.path, "bytes": file.size, **_program(file)}


def _program(file: PTEFile) -> dict[str, Any]:
    return {
        "schema_version": file.program.version,
        "methods": [_method(method) for method in file.methods.values()],
        "delegates": [_delegate(file, delegate) for delegate in file.delegates],
        "states": list(_states(file)),
        "constants": _blobs(file.constants),
        "mutable_data": _blobs(file.mutable_data),
        "named_data": _named_data(file),
        "segments": _segments(file),
    }


def _method(method: Method) -> dict[str, Any]:
    plan = method.plan
    steps = [step.instr_args for chain in plan.chains for step in chain.instructions]
    calls = Counter(name for name, _ in kernel_calls(plan))
    return {
        "name": method.name,
        "inputs": [_value(info) for info in method.inputs],
        "outputs": [_value(info) for info in method.outputs],
        "values": len(plan.values),
        "instructions": dict(Counter(type(step).__name__ for step in steps)),
        "operators": dict(calls.most_common()),
        "planned_memory": list(plan.non_const_buffer_sizes[1:]),
        "source_lines": list(method.source_lines),
    }


def _name(member: IntEnum | int | None) -> str:
    """An enum member in lower case; a number that the schema gives no meaning as it is."""
    return member.name.lower() if isinstance(member, IntEnum) else str(member)


def _value(info: ValueInfo) -> dict[str, Any]:
    if info.dtype is None or info.shape is None:
        return {"name": info.name, "kind": info.kind, "value": _scalar(info)}
    return {
        "name": info.name,
        "kind": info.kind,
        "dtype": scalar_type_name(info.dtype),
        "shape": list(info.shape),
        "dynamism": _name(info.dynamism),
    }


def _scalar(info: ValueInfo) -> Any:
    """The number or text that a value holds in the file, or ``None``."""
    for field in ("int_val", "double_val", "bool_val", "string_val"):
        if hasattr(info.value, field):
            return getattr(info.value, field)
    return None


def _delegate(file: PTEFile, delegate: Delegate) -> dict[str, Any]:
    described: dict[str, Any] = {
        "method": delegate.method,
        "index": delegate.index,
        "backend": delegate.backend_id,
        "bytes": len(delegate.payload),
    }
    try:
        summary = payload_summary(file, delegate)
    except PteronError as error:
        return described | {"payload": None, "note": str(error)}
    return described | {"payload": describe_payload(summary)}


def payload_summary(file: PTEFile, delegate: Delegate) -> PayloadSummary:
    """What a delegate's payload is. Raises UnsupportedError where no reader knows its backend."""
    reader = find_reader(delegate.backend_id)
    if reader is None:
        raise UnsupportedError(f"no reader for payloads of {delegate.backend_id}")
    blobs = named_views(file.named_data)
    return reader.summary(reader.open(delegate.payload, blobs, delegate.method))


def describe_payload(summary: PayloadSummary) -> dict[str, Any]:
    """A payload's summary as plain data."""
    return {
        "format": summary.format,
        "functions": [
            {
                "name": function.name,
                "inputs": [_payload_value(value) for value in function.inputs],
                "outputs": [_payload_value(value) for value in function.outputs],
                "states": [_payload_value(value) for value in function.states],
                "operations": dict(function.operations),
            }
            for function in summary.functions
        ],
    }


def _payload_value(value: Any) -> dict[str, Any]:
    return {"name": value.name, "dtype": value.dtype, "shape": list(value.shape)}


def _states(file: PTEFile) -> Iterator[dict[str, Any]]:
    """Mutable buffers, whoever owns them, under the names that the file gives them."""
    for delegate in file.delegates:
        yield from _delegate_states(file, delegate)
    for method in file.methods.values():
        for index, name in state_values(method.plan):
            tensor = method.plan.values[index].val
            assert isinstance(tensor, Tensor)
            yield {
                "name": name or f"value {index}",
                "owner": "program",
                "method": method.name,
                "dtype": scalar_type_name(tensor.scalar_type),
                "shape": list(tensor.sizes),
                "bytes": prod(tensor.sizes) * itemsize(tensor.scalar_type),
            }


def _delegate_states(file: PTEFile, delegate: Delegate) -> Iterator[dict[str, Any]]:
    try:
        functions = payload_summary(file, delegate).functions
    except PteronError:
        return  # the delegate's own line says why its payload cannot be read
    names = declared_state_names(delegate)
    for state in functions[0].states if functions else ():
        yield {
            "name": names.get(state.name, state.name),
            "owner": "delegate",
            "method": delegate.method,
            "dtype": state.dtype,
            "shape": list(state.shape),
            "bytes": prod(size or 0 for size in state.shape) * _STATE_ITEMSIZE.get(state.dtype, 0),
        }


_STATE_ITEMSIZE = {"float16": 2, "float32": 4}
"""Bytes per element of the types that states can have; a damaged payload may name any other."""


def _blobs(blobs: Any) -> dict[str, int]:
    sizes = [len(blob) for blob in blobs if len(blob)]
    return {"count": len(sizes), "bytes": sum(sizes)}


def _named_data(file: PTEFile | PTDFile) -> list[dict[str, Any]]:
    return [
        {"key": key, "bytes": len(blob.data), "alignment": blob.alignment}
        for key, blob in file.named_data.items()
    ]


def _segments(file: PTEFile) -> list[dict[str, Any]]:
    uses = segment_uses(file.program)
    return [
        {"index": index, "offset": s.offset, "bytes": s.size, "use": uses.get(index, "unused")}
        for index, s in enumerate(file.program.segments)
    ]
