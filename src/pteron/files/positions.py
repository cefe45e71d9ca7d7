"""Where a view's bytes are within the buffer that it is a view of."""

from __future__ import annotations


def offset_in(inner: memoryview, outer: memoryview) -> int | None:
    """Byte offset of ``inner`` in ``outer``, or ``None`` where it is empty or not a part of it."""
    if not inner.nbytes or not outer.nbytes:
        return None
    offset = _address(inner) - _address(outer)
    return offset if 0 <= offset <= outer.nbytes - inner.nbytes else None


def _address(view: memoryview) -> int:
    import numpy as np

    address: int = np.frombuffer(view, np.uint8).__array_interface__["data"][0]
    return address
