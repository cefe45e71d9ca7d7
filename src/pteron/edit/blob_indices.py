"""Where a program refers to blobs by index, so that blobs can be moved, added and left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pteron.errors import FormatError
from pteron.files import Parts
from pteron.files.tensors import is_constant, mutable_segment_index, stored_tensors
from pteron.flatbuf import Buffer
from pteron.schema.program import BackendDelegate, Program, Tensor

Moved = Mapping[int, int]
"""Index of a blob before -> after."""


def constant_tensors(program: Program) -> Iterator[Tensor]:
    """Every tensor of every method whose ``data_buffer_idx`` counts ``Parts.constants``."""
    return (tensor for tensor in stored_tensors(program) if is_constant(tensor))


def mutable_tensors(program: Program, group: int) -> Iterator[Tensor]:
    """Every tensor with a first value in that list of ``Parts.mutable_data``."""
    for tensor in stored_tensors(program):
        if not is_constant(tensor) and mutable_segment_index(tensor) == group:
            yield tensor


def delegates_of(program: Program) -> Iterator[BackendDelegate]:
    """Every delegate of every method."""
    for plan in program.execution_plan:
        yield from plan.delegates


def move_constants(program: Program, moved: Moved) -> None:
    """Refer to constants by their new indices. Raises FormatError for one that is not there."""
    for tensor in constant_tensors(program):
        tensor.data_buffer_idx = _lookup(moved, tensor.data_buffer_idx, "constants")


def move_mutable_data(program: Program, group: int, moved: Moved) -> None:
    """Refer to first values in ``group`` by their new indices. Raises FormatError."""
    for tensor in mutable_tensors(program, group):
        tensor.data_buffer_idx = _lookup(moved, tensor.data_buffer_idx, "mutable data")


def move_payloads(program: Program, moved: Moved) -> None:
    """Refer to payloads by their new indices. Raises FormatError for one that is not there."""
    for delegate in delegates_of(program):
        delegate.processed.index = _lookup(moved, delegate.processed.index, "payloads")


def require_blobs(parts: Parts) -> None:
    """Raise FormatError unless every tensor and delegate refers to a blob that is there."""
    groups = {mutable_segment_index(t) for t in stored_tensors(parts.program) if not is_constant(t)}
    if groups and max(groups) >= len(parts.mutable_data):
        raise FormatError(f"the program refers to mutable data segment {max(groups)}")
    move_constants(parts.program, _identity(parts.constants))
    for group, blobs in enumerate(parts.mutable_data):
        move_mutable_data(parts.program, group, _identity(blobs))
    move_payloads(parts.program, _identity(parts.delegate_payloads))


def _identity(blobs: Sequence[Buffer]) -> Moved:
    return {index: index for index in range(len(blobs))}


def drop_unused_blobs(parts: Parts) -> None:
    """Leave out constants, first values and payloads that no method refers to.

    Only tensors and delegates refer to them (program.fbs), so none that is needed goes.
    """
    program = parts.program
    used = {tensor.data_buffer_idx for tensor in constant_tensors(program)}
    parts.constants, moved = _kept(parts.constants, used | {0})
    move_constants(program, moved)
    groups = []
    for group, blobs in enumerate(parts.mutable_data):
        used = {tensor.data_buffer_idx for tensor in mutable_tensors(program, group)}
        kept, moved = _kept(blobs, used | {0})
        move_mutable_data(program, group, moved)
        groups.append(kept)
    parts.mutable_data = groups
    used = {delegate.processed.index for delegate in delegates_of(program)}
    parts.delegate_payloads, moved = _kept(parts.delegate_payloads, used)
    move_payloads(program, moved)


def _kept(blobs: Sequence[Buffer], used: set[int]) -> tuple[list[Buffer], Moved]:
    indices = [index for index in range(len(blobs)) if index in used]
    return [blobs[index] for index in indices], {old: new for new, old in enumerate(indices)}


def _lookup(moved: Moved, index: int, what: str) -> int:
    try:
        return moved[index]
    except KeyError:
        raise FormatError(f"the program refers to {what}[{index}], which is not there") from None
