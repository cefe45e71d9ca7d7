"""Move data from data files (.ptd) into the program that looks it up."""

from __future__ import annotations

from collections.abc import Mapping

from pteron.edit.named_data_uses import external_tensors, without_unused
from pteron.errors import UsageError
from pteron.files import NamedBlob, Parts, PTDFile, PTEFile, byte_size
from pteron.files.equal import same_bytes
from pteron.files.tensors import is_constant
from pteron.schema.program import Tensor, TensorDataLocation


def inline(file: PTEFile, *data: PTDFile) -> PTEFile:
    """The program with the data of every external tensor, which needs no data file any more.

    Blobs that no tensor looks up become named data of the program where a delegate may ask for
    them. Tensors keep their names, also those that :func:`~pteron.edit.externalise` gave to
    constants without one: for such, the two together change names, and nothing else.

    Raises UsageError where data is missing, does not fit its tensor, or is under one name twice
    and differs.
    """
    parts = file.parts()
    blobs = _collected(parts.named_data, data)
    external = list(external_tensors(parts.program.execution_plan))
    if missing := sorted({name for name, _ in external} - set(blobs)):
        raise UsageError(f"no data file holds {', '.join(missing)}")
    for name, tensor in external:
        _require_fit(name, tensor, blobs[name])
    _take_in(parts, external, blobs)
    taken = {name for name, _ in external}
    rest = {key: blob for key, blob in blobs.items() if key not in taken}
    parts.named_data = without_unused(parts, rest)
    return PTEFile(**vars(parts))


def _collected(own: Mapping[str, NamedBlob], data: tuple[PTDFile, ...]) -> dict[str, NamedBlob]:
    blobs = dict(own)
    for file in data:
        for key, blob in file.named_data.items():
            known = blobs.setdefault(key, blob)
            if not same_bytes(known.data, blob.data):
                raise UsageError(f"data for {key!r} is given twice, and differs")
    return blobs


def _require_fit(name: str, tensor: Tensor, blob: NamedBlob) -> None:
    layout = blob.tensor_layout
    differs = layout is not None and (
        (layout.scalar_type, layout.sizes, layout.dim_order)
        != (tensor.scalar_type, tensor.sizes, tensor.dim_order)
    )
    if differs or len(blob.data) < byte_size(tensor):
        raise UsageError(f"the data for {name!r} has another dtype, shape or dim order")


def _take_in(
    parts: Parts, external: list[tuple[str, Tensor]], blobs: Mapping[str, NamedBlob]
) -> None:
    constants = list(parts.constants)
    groups = [list(group) or [b""] for group in parts.mutable_data] or [[b""]]
    for name, tensor in external:
        info = tensor.extra_tensor_info
        assert info is not None
        info.location = TensorDataLocation.SEGMENT
        held = constants
        if not is_constant(tensor):
            info.mutable_data_segments_idx = 0  # the only one that ExecuTorch's runtime reads
            held = groups[0]
        tensor.data_buffer_idx = len(held)
        held.append(blobs[name].data)
    parts.constants, parts.mutable_data = constants, groups
