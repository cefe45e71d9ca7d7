"""Constants and initial values of a program under the names that its tensors give them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pteron.dtypes import scalar_type_name
from pteron.files.blobs import Blobs
from pteron.files.program_file import PTEFile
from pteron.files.tensors import is_constant, mutable_segment_index, stored_tensors
from pteron.schema.program import Tensor


@dataclass(frozen=True)
class StoredTensor:
    """A constant or an initial value.

    Attributes:
        name: its fully qualified name, or ``constant 3``, ``initial value 1``; unique in its list.
        index: its ``data_buffer_idx``.
        data: its bytes, in place, in the tensor's dim order.
        tensor: the first tensor that uses it, or ``None`` if none does.
    """

    name: str
    index: int
    data: memoryview
    tensor: Tensor | None

    @property
    def dtype(self) -> str:
        """Element type, or ``""`` where no tensor says it."""
        return scalar_type_name(self.tensor.scalar_type) if self.tensor else ""

    @property
    def shape(self) -> tuple[int, ...] | None:
        """Shape, or ``None`` where no tensor says it."""
        return tuple(self.tensor.sizes) if self.tensor else None


def stored_constants(file: PTEFile) -> list[StoredTensor]:
    """Every constant in the file, in stored order, without the reserved entry 0."""
    tensors = (tensor for tensor in stored_tensors(file.program) if is_constant(tensor))
    return list(_named(file.constants, tensors, "constant"))


def stored_initial_values(file: PTEFile) -> list[StoredTensor]:
    """Every initial value of a mutable tensor, in stored order, without the reserved entries."""
    groups = Blobs(file.program, file.segments).mutable_data()
    mutable = [tensor for tensor in stored_tensors(file.program) if not is_constant(tensor)]
    found: list[StoredTensor] = []
    for number, blobs in enumerate(groups):
        tensors = (tensor for tensor in mutable if mutable_segment_index(tensor) == number)
        what = f"segment {number} initial value" if number else "initial value"
        found += _named(blobs, tensors, what)
    return found


def _named(
    blobs: Sequence[memoryview], tensors: Iterable[Tensor], what: str
) -> Iterator[StoredTensor]:
    users: dict[int, Tensor] = {}
    for tensor in tensors:
        users.setdefault(tensor.data_buffer_idx, tensor)
    taken: set[str] = set()
    for index, data in enumerate(blobs):
        if index and len(data):
            user = users.get(index)
            name = _qualified_name(user) or f"{what} {index}"
            if name in taken:  # one name for two blobs: only the index tells them apart
                name = f"{name} ({what} {index})"
            taken.add(name)
            yield StoredTensor(name, index, data, user)


def _qualified_name(tensor: Tensor | None) -> str | None:
    info = tensor.extra_tensor_info if tensor else None
    return info.fully_qualified_name if info else None
