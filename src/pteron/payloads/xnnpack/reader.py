"""XNNPACK payloads for the rest of the house: parts, summary, constants."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from urllib.parse import quote

from pteron.payloads.base import PayloadSource
from pteron.payloads.parts import Part, fill
from pteron.payloads.reader import Constant, PayloadReader, PayloadSummary
from pteron.payloads.sources import FilesSource
from pteron.payloads.xnnpack.elements import read_elements
from pteron.payloads.xnnpack.graph import Use, summarise, uses
from pteron.payloads.xnnpack.layout import Layout, read_graph, read_layout
from pteron.payloads.xnnpack.schema import NO_OFFSET, XNNGraph

BACKEND_ID = "XnnpackBackend"
_PAYLOAD = "payload"
_NAMED = "named_data/"


class XnnpackReader:
    """The :class:`~pteron.payloads.reader.PayloadReader` of ``XnnpackBackend``.

    A source has the file ``payload`` and, for every named constant that is at hand,
    ``named_data/<key>``, the key quoted as in a URL.
    """

    backend_id = BACKEND_ID

    def open(
        self, payload: memoryview, named_data: Mapping[str, memoryview], method: str
    ) -> FilesSource:
        graph = read_graph(payload, read_layout(payload))
        keys = [place.named_key for place in graph.constant_data if place.named_key in named_data]
        named = {_path(key): named_data[key] for key in keys}
        return FilesSource(BACKEND_ID, {_PAYLOAD: payload, **named})

    def parts(self, payload: memoryview, named_data: Mapping[str, memoryview]) -> Part:
        layout = read_layout(payload)
        graph = read_graph(payload, layout)
        base, size = layout.constants
        weights = (
            _weight(use, base + place.offset, place.size)
            for index, use in uses(graph).items()
            for place in graph.constant_data[index : index + 1]
            if place.offset != NO_OFFSET
        )
        children = [
            Part("header", "header", *layout.header),
            Part("graph", "flatbuffer", *layout.flatbuffer),
            Part("constants", "constants", base, size, children=fill(weights, base, base + size)),
        ]
        return Part("payload", "payload", 0, len(payload), children=fill(children, 0, len(payload)))

    def named_parts(
        self, payload: memoryview, named_data: Mapping[str, memoryview]
    ) -> Mapping[str, Part]:
        graph = read_graph(payload, read_layout(payload))
        return {
            place.named_key: _weight(use, 0, len(named_data[place.named_key]))
            for index, use in uses(graph).items()
            for place in graph.constant_data[index : index + 1]
            if place.named_key in named_data
        }

    def summary(self, source: PayloadSource) -> PayloadSummary:
        _, graph = _graph(source)
        return PayloadSummary(format="XNNPACK graph", functions=(summarise(graph, "graph"),))

    def constants(self, source: PayloadSource) -> list[Constant]:
        return [
            Constant(use.name, use.dtype, use.shape, data, partial(read_elements, data, use))
            for use, data in _constants(source)
        ]


READER: PayloadReader = XnnpackReader()


def _graph(source: PayloadSource) -> tuple[Layout, XNNGraph]:
    payload = source.read(_PAYLOAD)
    layout = read_layout(payload)
    return layout, read_graph(payload, layout)


def _path(key: str) -> str:
    return f"{_NAMED}{quote(key, safe='')}"


def _weight(use: Use, offset: int, size: int) -> Part:
    return Part(use.name, "weight", offset, size, dtype=use.dtype, shape=use.shape)


def _constants(source: PayloadSource) -> Iterator[tuple[Use, memoryview]]:
    """Every constant whose bytes are at hand: behind the graph, in named data, or inside it."""
    layout, graph = _graph(source)
    base, size = layout.constants
    area = source.read(_PAYLOAD)[base : base + size]
    at_hand = set(source.paths())
    for index, use in sorted(uses(graph).items()):
        if index < len(graph.constant_buffer):
            yield use, memoryview(graph.constant_buffer[index].storage)
        elif index < len(graph.constant_data):
            place = graph.constant_data[index]
            path = _path(place.named_key)
            if place.offset != NO_OFFSET:
                yield use, area[place.offset : place.offset + place.size]
            elif path in at_hand:
                yield use, source.read(path)[: place.size]
