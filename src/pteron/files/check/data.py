"""Tensor data files."""

from __future__ import annotations

from collections.abc import Iterator

from pteron.files.check.finding import Finding, error, note, warning
from pteron.files.check.names import duplicates
from pteron.files.check.segments import check_layout
from pteron.files.check.tensors import SCALAR_TYPES
from pteron.files.data_file import PTDFile
from pteron.files.tensors import layout_byte_size
from pteron.schema.flat_tensor import NamedData


def check_data(file: PTDFile) -> Iterator[Finding]:
    """Names, segments, and tensor layouts against their data."""
    root = file.flat_tensor
    if root.version:
        yield warning("version", f"schema version {root.version}, pteron knows 0")
    for table, field, offset in file.unknown_fields:
        yield warning(table, f"{field} belongs to a newer schema (at byte {offset})")
    yield from check_layout(root.segments, file.segment_base)
    yield from duplicates("named_data", "key", (entry.key for entry in root.named_data))
    used = {entry.segment_index for entry in root.named_data}
    for index, segment in enumerate(root.segments):
        if segment.size and index not in used:
            yield note(f"segments[{index}]", f"nothing refers to its {segment.size} bytes")
    for number, entry in enumerate(root.named_data):
        yield from _check_entry(entry, file, f"named_data[{number}]")


def _check_entry(entry: NamedData, file: PTDFile, where: str) -> Iterator[Finding]:
    segments = file.flat_tensor.segments
    if entry.segment_index >= len(segments):
        yield error(f"{where}.segment_index", f"segment {entry.segment_index} of {len(segments)}")
        return
    layout, size = entry.tensor_layout, segments[entry.segment_index].size
    if layout is None:
        return
    if layout.scalar_type not in SCALAR_TYPES:
        yield error(f"{where}.tensor_layout.scalar_type", f"unknown: {layout.scalar_type}")
    elif any(n < 0 for n in layout.sizes) or layout_byte_size(layout) != size:
        yield error(
            f"{where}.tensor_layout.sizes", f"{layout.sizes} does not fill {size} bytes of data"
        )
    if sorted(layout.dim_order) != list(range(len(layout.sizes))):
        yield error(f"{where}.tensor_layout.dim_order", f"{layout.dim_order} is not an order")
