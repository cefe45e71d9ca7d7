"""Whether a delegate's payload is what its backend's format says, as far as a reader knows it."""

from __future__ import annotations

from collections.abc import Mapping

from pteron.errors import FormatError, UnsupportedError
from pteron.files.parts import NamedBlob, named_views
from pteron.flatbuf import Buffer
from pteron.payloads import find_reader


def payload_fault(
    backend_id: str, payload: Buffer, named_data: Mapping[str, NamedBlob]
) -> FormatError | None:
    """What is wrong with a payload, or ``None``: also where no reader knows the backend.

    Named data that is not there is no fault, as a data file may bring it.
    """
    reader = find_reader(backend_id)
    if reader is None:
        return None
    view = memoryview(payload)
    blobs = named_views(named_data)
    try:
        reader.parts(view, blobs)
        reader.named_parts(view, blobs)
    except FormatError as fault:
        return fault
    except UnsupportedError:
        return None
    return None
