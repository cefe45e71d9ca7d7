"""Where the flatbuffer and the constants are in an XNNPACK payload.

A payload begins with a header (four zero bytes, ``XH00``, u16 length, u32 flatbuffer offset, u32
flatbuffer size, u32 constants' offset, u64 constants' size; little-endian; source: ExecuTorch's
``backends/xnnpack/serialization/xnnpack_graph_serialize.py``), or, in old files, directly with the
flatbuffer.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from pteron.errors import FormatError
from pteron.flatbuf import Reader
from pteron.payloads.xnnpack.schema import IDENTIFIERS, XNNGraph

MAGIC = b"XH00"
_HEADER = struct.Struct("<4x4sHIIIQ")


@dataclass(frozen=True)
class Layout:
    """Ranges of bytes in the payload, each (offset, size); ``header`` is empty in old files."""

    header: tuple[int, int]
    flatbuffer: tuple[int, int]
    constants: tuple[int, int]


def read_layout(payload: memoryview) -> Layout:
    """Find the ranges. Raises FormatError unless they follow one another inside the payload."""
    if payload[4:8] != MAGIC:
        return Layout((0, 0), (0, len(payload)), (len(payload), 0))
    if len(payload) < _HEADER.size:
        raise FormatError(f"{len(payload)} bytes, less than the header", where="XNNPACK payload")
    _, length, graph, graph_size, constants, constants_size = _HEADER.unpack_from(payload)
    places = [0, length, graph, graph + graph_size, constants, constants + constants_size]
    if length < _HEADER.size or sorted(places) != places or places[-1] > len(payload):
        raise FormatError(
            f"header, flatbuffer and constants at {places[1:]} do not follow one another within "
            f"{len(payload)} bytes",
            where="XNNPACK payload",
        )
    return Layout((0, length), (graph, graph_size), (constants, constants_size))


def read_graph(payload: memoryview, layout: Layout) -> XNNGraph:
    """Decode the graph. Raises FormatError for an unknown identifier or a damaged flatbuffer."""
    offset, size = layout.flatbuffer
    data = payload[offset : offset + size]
    if data[4:8] not in IDENTIFIERS:
        raise FormatError(
            f"identifier {bytes(data[4:8])!r} is none of XNNPACK's (XN00, XN01)",
            where="XNNPACK payload",
            offset=offset + 4,
        )
    return Reader(data).root(XNNGraph)
