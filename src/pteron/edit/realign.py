"""Give segments, tensors and named blobs other alignments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pteron.errors import UsageError
from pteron.files import NamedBlob, PTEFile


def realign(
    file: PTEFile,
    *,
    segments: int | None = None,
    tensors: int | None = None,
    named_data: int | Mapping[str, int] | None = None,
) -> PTEFile:
    """The program with other alignments, in bytes, each a power of two; ``None`` keeps one.

    Args:
        segments: of every segment in the file (memory-mapped loading wants the page size).
        tensors: of every constant and first value in its segment.
        named_data: of the segments of all named blobs, or of those that a mapping names.

    Raises UsageError for an alignment that is no power of two, or a key that does not exist.
    """
    parts = file.parts()
    if segments is not None:
        parts.segment_alignment = _checked(segments)
    if tensors is not None:
        parts.constant_alignment = _checked(tensors)
    if named_data is not None:
        parts.named_data = _realigned(parts.named_data, named_data)
    return PTEFile(**vars(parts))


def _realigned(
    blobs: Mapping[str, NamedBlob], alignments: int | Mapping[str, int]
) -> dict[str, NamedBlob]:
    wanted = dict.fromkeys(blobs, alignments) if isinstance(alignments, int) else alignments
    for key in wanted:
        if key not in blobs:
            raise UsageError(f"there is no named data {key!r}; there is: {', '.join(blobs)}")
    return {
        key: replace(blob, alignment=_checked(wanted.get(key, blob.alignment)))
        for key, blob in blobs.items()
    }


def _checked(alignment: int) -> int:
    if alignment < 1 or alignment & (alignment - 1):
        raise UsageError(f"alignment {alignment} is not a power of two")
    return alignment
