"""Findings about a program that is inside a bundle."""

from __future__ import annotations

from collections.abc import Callable

from pteron.errors import PteronError
from pteron.files.bundled_file import BundledFile
from pteron.files.check.finding import Finding, error
from pteron.files.program_file import PTEFile


def inside_bundle(bundle: BundledFile, check: Callable[[PTEFile], list[Finding]]) -> list[Finding]:
    """What ``check`` finds in the bundle's program, with paths that begin with ``program``."""
    try:
        found = check(bundle.pte)
    except PteronError as failure:
        return [error("program", str(failure))]
    return [
        Finding(f.severity, f"program.{f.where}" if f.where else "program", f.message)
        for f in found
    ]
