"""Give a named blob other data."""

from __future__ import annotations

from dataclasses import replace

from pteron.edit.named_data_uses import external_tensors
from pteron.edit.tensor_bytes import Array, in_dim_order, tensor_bytes
from pteron.errors import UsageError
from pteron.files import NamedBlob, PTDFile, PTEFile
from pteron.flatbuf import Buffer
from pteron.schema.flat_tensor import TensorLayout
from pteron.schema.program import Tensor
from pteron.suggestions import listed, meant


def replace_named(file: PTEFile, key: str, data: Buffer | Array) -> PTEFile:
    """The program with other data under a key of its named data.

    Args:
        data: an array, checked against the tensor that looks this key up, or else against the
            size of the blob; or bytes, taken as they are. Neither is copied.

    Raises UsageError where there is no such key, or the array does not fit.
    """
    parts = file.parts()
    blob = _find(dict(parts.named_data), key)
    layout = dict(external_tensors(parts.program.execution_plan)).get(key)
    parts.named_data = {**parts.named_data, key: _replaced(blob, layout, data, key)}
    return PTEFile(**vars(parts))


def replace_external(file: PTDFile, key: str, data: Buffer | Array) -> PTDFile:
    """The data file with other data under a key; see :func:`replace_named`.

    A blob with a tensor layout takes arrays of that dtype, shape and dim order.
    """
    blobs = file.named_data
    blob = _find(blobs, key)
    blobs[key] = _replaced(blob, blob.tensor_layout, data, key)
    return PTDFile(blobs, segment_alignment=1, unknown_fields=file.unknown_fields)


def _find(blobs: dict[str, NamedBlob], key: str) -> NamedBlob:
    if key not in blobs:
        hint = meant(key, blobs)
        raise UsageError(f"there is no named data {key!r}{hint}; there is: {listed(blobs)}")
    return blobs[key]


def _replaced(
    blob: NamedBlob, layout: Tensor | TensorLayout | None, data: Buffer | Array, key: str
) -> NamedBlob:
    if isinstance(data, (bytes, bytearray, memoryview)):
        if layout is not None and len(data) != len(blob.data):
            raise _wrong_size(key, blob, len(data))
        return replace(blob, data=data)
    if layout is not None:
        return replace(blob, data=tensor_bytes(layout, data, f"named data {key!r}"))
    if data.nbytes != len(blob.data):
        raise _wrong_size(key, blob, data.nbytes)
    return replace(blob, data=in_dim_order(data, [], key))


def _wrong_size(key: str, blob: NamedBlob, size: int) -> UsageError:
    return UsageError(f"named data {key!r} has {len(blob.data)} bytes; the new data has {size}")
