"""The parts of a tensor data file."""

from __future__ import annotations

from collections.abc import Iterator

from pteron.dtypes import scalar_type_name
from pteron.files.data_file import PTDFile
from pteron.files.header import read_ptd_header
from pteron.files.size.layout import Blob, framed, placed
from pteron.payloads import Part


def data_parts(file: PTDFile, view: memoryview) -> Part:
    """A data file that was opened from ``view``; a blob with several names has all of them."""
    keys: dict[int, list[str]] = {}
    for entry in file.flat_tensor.named_data:
        keys.setdefault(entry.segment_index, []).append(entry.key)
    uses = {index: ", ".join(names) for index, names in keys.items()}
    blobs = placed(_blobs(file), view)
    segments = file.flat_tensor.segments
    return framed("data file", view, read_ptd_header(view), segments, uses, blobs)


def _blobs(file: PTDFile) -> Iterator[Blob]:
    for key, blob in file.named_data.items():
        data, layout = memoryview(blob.data), blob.tensor_layout
        dtype = scalar_type_name(layout.scalar_type) if layout else ""
        shape = tuple(layout.sizes) if layout else None
        yield data, Part(key, "named data", 0, len(data), dtype, shape)
