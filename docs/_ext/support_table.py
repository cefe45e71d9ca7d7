"""The directive ``support-table``: tables about what is supported, written from the code."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import metadata, requires
from itertools import groupby
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from pteron.cli.options import engine_option
from pteron.engines.openvino.registry import OPSETS, all_ops
from pteron.payloads import find_reader, known_backends

DOCS = Path(__file__).resolve().parent.parent
SKIP = re.compile(r'^% skip: next "(?P<reason>[^"]+)"$', re.MULTILINE)
Rows = Sequence[Sequence[str]]


def readers() -> Rows:
    """Backends whose payloads are read."""
    rows = [("backend", "reader")]
    for backend in known_backends():
        kind = type(find_reader(backend))
        rows.append((backend, f"{kind.__module__}.{kind.__name__}"))
    return rows


def engines() -> Rows:
    """Names that ``engine=`` and ``--engine`` take."""
    option = engine_option(lambda: None).__click_params__[0]
    homes = {
        "openvino": ("Core ML payloads, on OpenVINO", "any system that OpenVINO supports"),
        "coreml": ("Core ML payloads, on Core ML itself", "macOS, coremltools"),
        "executorch": ("whole programs, on ExecuTorch's runtime", "the extra executorch"),
    }
    return [("engine", "runs", "needs"), *((name, *homes[name]) for name in option.type.choices)]


def extras() -> Rows:
    """What each extra brings."""
    pattern = re.compile(r'^(?P<package>.+?)\s*;.*extra == [\'"](?P<extra>\w+)[\'"]')
    found = [match for match in map(pattern.match, requires("pteron") or []) if match]
    rows = [("extra", "brings")]
    for extra, group in groupby(found, key=lambda match: match["extra"]):
        rows.append((f"pteron[{extra}]", ", ".join(match["package"] for match in group)))
    return rows


def python() -> Rows:
    """The versions of Python that the package allows."""
    return [("Python",), (metadata("pteron")["Requires-Python"],)]


def opsets() -> Rows:
    """How many MIL ops are known at each opset."""
    rows = [("opset", "iOS", "ops known")]
    for opset, release in OPSETS.items():
        known = sum(versions[0].since <= release for versions in all_ops().values())
        rows.append((opset, str(release), str(known)))
    return rows


def not_run() -> Rows:
    """Code blocks of this documentation that the tests do not run."""
    return [("page", "why its block is not run"), *_skipped()]


def _skipped() -> Iterator[tuple[str, str]]:
    for page in sorted(DOCS.rglob("*.md")):
        for match in SKIP.finditer(page.read_text(encoding="utf-8")):
            yield page.relative_to(DOCS).as_posix(), match["reason"]


TABLES: dict[str, Callable[[], Rows]] = {
    function.__name__.replace("_", "-"): function
    for function in (readers, engines, extras, python, opsets, not_run)
}


class SupportTable(SphinxDirective):
    """``{support-table} NAME``."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        head, *rows = TABLES[self.arguments[0]]()
        group = nodes.tgroup("", cols=len(head))
        group += [nodes.colspec(colwidth=1) for _ in head]
        group += nodes.thead("", _row(head))
        group += nodes.tbody("", *map(_row, rows))
        return [nodes.table("", group)]


def _row(cells: Sequence[str]) -> nodes.row:
    entries = [nodes.entry("", nodes.paragraph("", cell)) for cell in cells]
    return nodes.row("", *entries)


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("support-table", SupportTable)
    return {"parallel_read_safe": True}
