"""Give a constant, or a mutable tensor's first value, other values."""

from __future__ import annotations

from pteron.edit.blob_indices import drop_unused_blobs, require_blobs
from pteron.edit.find_tensors import Target, find_tensors
from pteron.edit.tensor_bytes import Array, tensor_bytes
from pteron.files import Parts, PTEFile
from pteron.files.tensors import is_constant, mutable_segment_index
from pteron.flatbuf import Buffer
from pteron.schema.program import Tensor


def replace_constant(file: PTEFile, target: Target, values: Array) -> PTEFile:
    """The program with other values for a tensor whose data is in the file.

    Tensors that are not meant keep their data, also where it was stored once for both.

    Args:
        target: the tensor's name, in whatever methods it is; an index into ``file.constants``,
            for all tensors that use it; or (method, index of a value), for that one alone.
        values: an array of the tensor's dtype and shape, in logical order; it is stored in the
            tensor's dim order. It is not copied: leave it as it is until the file is saved.

    Raises:
        UsageError: there is no such tensor, or the array does not fit it.
        UnsupportedError: the tensor's scalar type has no NumPy dtype.
    """
    parts = file.parts()
    require_blobs(parts)
    for tensor in find_tensors(parts.program, target):
        _give(parts, tensor, tensor_bytes(tensor, values, f"the tensor {target!r}"))
    drop_unused_blobs(parts)
    return PTEFile(**vars(parts))


def _give(parts: Parts, tensor: Tensor, data: Buffer) -> None:
    if is_constant(tensor):
        parts.constants = [*parts.constants, data]
        tensor.data_buffer_idx = len(parts.constants) - 1
        return
    groups = [list(group) for group in parts.mutable_data]
    group = groups[mutable_segment_index(tensor)]
    tensor.data_buffer_idx = len(group)
    group.append(data)
    parts.mutable_data = groups
