"""The directive ``byte-diagram``: bytes of a file that is made during the build, field by field.

``{byte-diagram} NAME`` draws one of ``DIAGRAMS``. Nothing is typed by hand, so that no page can say
what the code does not do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from html import escape
from itertools import groupby
from typing import Any

import sample_files
from docutils import nodes
from fields import BPTE, PTD, PTE, WEIGHTS, Field, embedded_program, leaves, read_fields
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import pteron
from pteron.files.size import size_tree
from pteron.payloads import find_reader

WIDTH = 16
"""Bytes in a row."""


def _head(file: Callable[[], bytes], layout: Sequence[tuple[str, str]]) -> str:
    return grid(file(), read_fields(file(), layout))


def _layout(file: Callable[[], bytes], depth: int) -> str:
    return table(leaves(size_tree(pteron.open(file())), depth))


def _payload_layout() -> str:
    payload = memoryview(sample_files.payload())
    return table(leaves(find_reader("CoreMLBackend").parts(payload, {}), 1))


def _payload_tail() -> str:
    payload = sample_files.payload()
    start = len(payload) - 2 * WIDTH
    text = payload[start:][::-1].decode()
    return grid(payload, [Field(start, 2 * WIDTH, "end of the payload", f"read backwards: {text}")])


def _bundled_program() -> str:
    bundle = sample_files.bundle()
    return grid(bundle, embedded_program(bundle, sample_files.program()))


DIAGRAMS: dict[str, Callable[[], str]] = {
    "pte-head": lambda: _head(sample_files.program, PTE),
    "pte-layout": lambda: _layout(sample_files.program, 2),
    "ptd-head": lambda: _head(sample_files.data, PTD),
    "ptd-layout": lambda: _layout(sample_files.data, 2),
    "bpte-head": lambda: _head(sample_files.bundle, BPTE),
    "bpte-program": _bundled_program,
    "bpte-layout": lambda: _layout(sample_files.bundle, 2),
    "payload-layout": _payload_layout,
    "payload-tail": _payload_tail,
    "weights": lambda: _head(sample_files.weights, WEIGHTS),
}


def table(fields: Sequence[Field]) -> str:
    """Offset, size and name of each part, one to a line."""
    rows = "".join(
        f"<tr><td>{f.offset:,}</td><td>{f.size:,}</td>"
        f"<td>{escape(f.name)}</td><td>{escape(f.value)}</td></tr>"
        for f in fields
    )
    head = "<tr><th>byte</th><th>size</th><th>part</th><th>what it is</th></tr>"
    return f'<table class="docutils parts"><thead>{head}</thead><tbody>{rows}</tbody></table>'


def grid(data: bytes, fields: Sequence[Field]) -> str:
    """Rows of 16 bytes; every field is a cell as wide as it is long."""
    head = "".join(f"<th scope='col'>{column:x}</th>" for column in range(WIDTH))
    pieces = [piece for field in fields for piece in _pieces(field)]
    rows = "".join(
        f"<tr><th scope='row'>{row * WIDTH}</th>{''.join(_cells(data, list(group)))}</tr>"
        for row, group in groupby(pieces, key=lambda piece: piece[0] // WIDTH)
    )
    return (
        f'<table class="bytes"><thead><tr><th>byte</th>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table>"
    )


def _pieces(field: Field) -> Iterator[tuple[int, int, str, str]]:
    """A field cut where rows end; the first piece has its name and value."""
    offset, end, name, value = field.offset, field.offset + field.size, field.name, field.value
    while offset < end:
        stop = min(end, (offset // WIDTH + 1) * WIDTH)
        yield offset, stop - offset, name, value
        offset, name, value = stop, "(continued)", ""


def _cells(data: bytes, pieces: Sequence[tuple[int, int, str, str]]) -> Iterator[str]:
    column = pieces[0][0] % WIDTH
    if column:
        yield f"<td colspan='{column}'></td>"
    for offset, size, name, value in pieces:
        text = f"<br><b>{escape(value)}</b>" if value else ""
        yield (
            f"<td colspan='{size}'><code>{data[offset : offset + size].hex(' ')}</code>"
            f"<br>{escape(name)}{text}</td>"
        )


class ByteDiagram(SphinxDirective):
    """``{byte-diagram} NAME``."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        return [nodes.raw("", DIAGRAMS[self.arguments[0]](), format="html")]


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("byte-diagram", ByteDiagram)
    app.add_css_file("bytes.css")
    return {"parallel_read_safe": True}
