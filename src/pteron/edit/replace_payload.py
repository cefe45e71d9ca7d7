"""Give a delegate another payload."""

from __future__ import annotations

from pteron.edit.blob_indices import drop_unused_blobs
from pteron.edit.plans import find_plan
from pteron.errors import UsageError
from pteron.files import Delegate, PTEFile
from pteron.flatbuf import Buffer


def replace_payload(file: PTEFile, method: str, index: int, payload: Buffer) -> PTEFile:
    """The program with other bytes for a delegate; delegates that shared the old ones keep them.

    Args:
        index: position among the method's delegates.
        payload: what the backend produced; not checked, and not copied.

    Raises UsageError where there is no such delegate.
    """
    find_delegate(file, method, index)
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
        raise UsageError(f"method {method!r} has {len(found)} delegates, none of index {index}")
    return found[index]
