"""Which named blobs a program still needs, as far as that can be known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from pteron.edit.blob_indices import delegates_of
from pteron.errors import PteronError
from pteron.files import NamedBlob, Parts
from pteron.files.parts import named_views
from pteron.files.tensors import is_external
from pteron.payloads import find_reader
from pteron.schema.program import ExecutionPlan, Tensor


def external_tensors(plans: Iterable[ExecutionPlan]) -> Iterator[tuple[str, Tensor]]:
    """(key, tensor) of every tensor whose data is looked up by name."""
    for plan in plans:
        for value in plan.values:
            tensor = value.val
            if isinstance(tensor, Tensor) and is_external(tensor):
                assert tensor.extra_tensor_info is not None
                yield tensor.extra_tensor_info.fully_qualified_name or "", tensor


def without_unused(parts: Parts, blobs: Mapping[str, NamedBlob]) -> dict[str, NamedBlob]:
    """``blobs`` without those that neither a tensor nor a delegate of ``parts`` can ask for.

    Only a backend knows what its payload asks for. Where a payload's reader says so, the rest
    goes; where one delegate's payload cannot be read, all blobs stay.
    """
    used = {key for key, _ in external_tensors(parts.program.execution_plan)}
    buffers = named_views(blobs)
    for delegate in delegates_of(parts.program):
        reader = find_reader(delegate.id)
        if reader is None:
            return dict(blobs)
        payload = memoryview(parts.delegate_payloads[delegate.processed.index])
        try:
            used.update(reader.named_parts(payload, buffers))
        except PteronError:  # unreadable: nobody can say what it asks for
            return dict(blobs)
    return {key: blob for key, blob in blobs.items() if key in used}
