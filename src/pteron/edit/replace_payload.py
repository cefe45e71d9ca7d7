"""Give a delegate another payload."""

from __future__ import annotations

from pteron.edit.blob_indices import drop_unused_blobs
from pteron.edit.plans import find_plan
from pteron.errors import FormatError, UsageError
from pteron.files import Delegate, PTEFile
from pteron.files.payload_faults import payload_fault
from pteron.flatbuf import Buffer


def replace_payload(file: PTEFile, method: str, index: int, payload: Buffer) -> PTEFile:
    """The program with other bytes for a delegate; delegates that shared the old ones keep them.

    Args:
        index: position among the method's delegates.
        payload: what the backend produced; not copied, and checked where a reader knows the
            backend's format.

    Raises:
        UsageError: there is no such delegate.
        FormatError: the payload is none of the delegate's backend.
    """
    backend = find_delegate(file, method, index).backend_id
    if fault := payload_fault(backend, payload, file.named_data):
        where = f"delegate {index} of {method!r}"
        raise FormatError(f"the new payload is none of {backend}: {fault}", where=where)
    parts = file.parts()
    delegate = find_plan(parts.program, method).delegates[index]
    delegate.processed.index = len(parts.delegate_payloads)
    parts.delegate_payloads = [*parts.delegate_payloads, payload]
    drop_unused_blobs(parts)
    return PTEFile(**vars(parts))


def find_delegate(file: PTEFile, method: str, index: int) -> Delegate:
    """A method's delegate by position. Raises UsageError where there is none."""
    find_plan(file.program, method)
    found = [delegate for delegate in file.delegates if delegate.method == method]
    if not 0 <= index < len(found):
        raise UsageError(
            f"method {method!r} has no delegate of index {index}; there are {len(found)}"
        )
    return found[index]
