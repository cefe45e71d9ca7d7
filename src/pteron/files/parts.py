"""A program and its blobs, apart from each other: the form to build and to edit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pteron.flatbuf import Buffer, UnknownField
from pteron.schema.flat_tensor import TensorLayout
from pteron.schema.program import Program


@dataclass(frozen=True)
class NamedBlob:
    """A named blob of a PTE or PTD file.

    Attributes:
        data: the bytes.
        alignment: bytes to which it is aligned in the file; derived from its place when read.
        tensor_layout: element type, shape and dim order where it is a tensor (PTD only).
    """

    data: Buffer
    alignment: int = 1
    tensor_layout: TensorLayout | None = None


def named_views(blobs: Mapping[str, NamedBlob]) -> dict[str, memoryview]:
    """Named data as readers of payloads take it: the bytes by key, not copied."""
    return {key: memoryview(blob.data) for key, blob in blobs.items()}


@dataclass
class Parts:
    """What a PTE file is made of.

    Attributes:
        program: its delegates refer to ``delegate_payloads`` (``processed`` is INLINE), its
            tensors to ``constants``, or to ``mutable_data`` where they have ``allocation_info``.
            Tables that describe segments are filled when the file is assembled.
        constants: index 0 is reserved and empty.
        mutable_data: initial values, index 0 reserved and empty; one list for each of
            ``Program.mutable_data_segments``.
        delegate_payloads: what backends produced.
        named_data: blobs by name.
        segment_alignment: bytes to which every segment is aligned.
        base_alignment: bytes to which the first segment is aligned at least, or ``None`` for the
            largest alignment of any segment, so that all are aligned in the file as well.
        constant_alignment: bytes to which constants and initial values are aligned.
        inline_constants: keep constants in the flatbuffer, as files did until 2024.
        inline_delegates: keep payloads in the flatbuffer.
        unknown_fields: fields of a newer schema that taking a file apart left behind; what is made
            of the parts can be saved only with ``drop_unknown``.
    """

    program: Program
    constants: Sequence[Buffer] = (b"",)
    mutable_data: Sequence[Sequence[Buffer]] = ()
    delegate_payloads: Sequence[Buffer] = ()
    named_data: Mapping[str, NamedBlob] = field(default_factory=dict)
    segment_alignment: int = 128
    constant_alignment: int = 16
    inline_constants: bool = False
    inline_delegates: bool = False
    unknown_fields: Sequence[UnknownField] = ()
    base_alignment: int | None = None
