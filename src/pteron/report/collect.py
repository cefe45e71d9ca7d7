"""Everything that the page shows of one file, as plain data."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

from pteron.files import BundledFile, PTDFile, PTEFile
from pteron.files.check import check
from pteron.files.size import size_tree
from pteron.files.summary import summarise
from pteron.report.guard import guarded
from pteron.report.lowered import lowered
from pteron.report.method import method
from pteron.report.sizes import sizes

AnyFile = PTEFile | PTDFile | BundledFile


def collect(file: AnyFile) -> dict[str, Any]:
    """What a file is, its parts, findings, and for a program its methods.

    A part of the file that cannot be read has ``{"error": why}`` in its place.
    """
    # Sizes are of the file as it would be saved: quickest to say before anything is decoded.
    parts = guarded(lambda: sizes(size_tree(file)))
    return {
        "name": PurePath(file.path).name if file.path else "unsaved file",
        "kind": _KINDS[type(file)],
        "summary": guarded(_summary, file),
        "findings": guarded(_findings, file),
        "sizes": parts,
        "lowering": guarded(_lowered, file),
        "methods": guarded(_methods, file),
    }


_KINDS = {PTEFile: "program", PTDFile: "data file", BundledFile: "bundled program"}


def _summary(file: AnyFile) -> dict[str, Any]:
    """Without the file's place on this machine, and what the instructions say of their source."""
    summary = summarise(file)
    for described in (summary, summary.get("program", {})):
        described.pop("path", None)
        for one in described.get("methods", []):
            one.pop("source_lines", None)
    return summary


def _findings(file: AnyFile) -> list[dict[str, str]]:
    return [
        {"severity": f.severity.value, "where": f.where, "message": f.message} for f in check(file)
    ]


def _program(file: AnyFile) -> PTEFile | None:
    if isinstance(file, BundledFile):
        return file.pte
    return file if isinstance(file, PTEFile) else None


def _lowered(file: AnyFile) -> dict[str, Any] | None:
    program = _program(file)
    return lowered(program) if program else None


def _methods(file: AnyFile) -> list[dict[str, Any]]:
    program = _program(file)
    if program is None:
        return []
    delegates = program.delegates
    return [
        method(program, plan, [d for d in delegates if d.method == plan.name])
        for plan in program.program.execution_plan
    ]
