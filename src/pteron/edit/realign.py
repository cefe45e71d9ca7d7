"""Give segments, tensors and named blobs other alignments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pteron.errors import UsageError
from pteron.files import NamedBlob, PTEFile
from pteron.files.segments import TENSOR_ALIGNMENT, checked_alignment
from pteron.suggestions import listed, meant

LARGEST = 1 << 20
"""Largest alignment that is taken: far beyond any machine's pages, and the file stays small."""


def realign(
    file: PTEFile,
    *,
    segments: int | None = None,
    tensors: int | None = None,
    named_data: int | Mapping[str, int] | None = None,
) -> PTEFile:
    """The program with other alignments, in bytes, each a power of two; ``None`` keeps one.

    Args:
        segments: of every segment in the file, 16 at least (memory-mapped loading wants the page
            size).
        tensors: of every constant and first value in its segment, 16 at least.
        named_data: of the segments of all named blobs, or of those that a mapping names.

    Raises UsageError for an alignment that is no power of two, too small, or above 1 MiB, or a
    key that does not exist.
    """
    parts = file.parts()
    if segments is not None:
        parts.segment_alignment = _checked(segments, TENSOR_ALIGNMENT)
    if tensors is not None:
        parts.constant_alignment = _checked(tensors, TENSOR_ALIGNMENT)
    if named_data is not None:
        parts.named_data = _realigned(parts.named_data, named_data)
    return PTEFile(**vars(parts))


def _realigned(
    blobs: Mapping[str, NamedBlob], alignments: int | Mapping[str, int]
) -> dict[str, NamedBlob]:
    wanted = dict.fromkeys(blobs, alignments) if isinstance(alignments, int) else alignments
    for key in wanted:
        if key not in blobs:
            hint = meant(key, blobs)
            raise UsageError(f"there is no named data {key!r}{hint}; there is: {listed(blobs)}")
    return dict(blobs) | {
        key: replace(blobs[key], alignment=_checked(alignment)) for key, alignment in wanted.items()
    }


def _checked(alignment: int, least: int = 1) -> int:
    if checked_alignment(alignment, least) > LARGEST:
        raise UsageError(f"alignment {alignment} is too large: no more than {LARGEST}")
    return alignment
