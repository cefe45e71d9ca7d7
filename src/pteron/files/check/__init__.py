"""Checks of what a file says, beyond that it can be decoded. One module per family of checks.

A family is a function from a file to findings. It may assume that every table decodes, and nothing
else: no index that a file gives is used before it is looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from pteron.files.bundled_file import BundledFile
from pteron.files.check.bundles import check_bundle
from pteron.files.check.data import check_data
from pteron.files.check.delegates import check_delegates
from pteron.files.check.finding import Finding, Severity, warning
from pteron.files.check.for_runtime import check_for
from pteron.files.check.indices import check_indices
from pteron.files.check.memory import check_memory
from pteron.files.check.names import check_names
from pteron.files.check.payloads import check_payloads
from pteron.files.check.segments import check_segments
from pteron.files.check.structure import check_structure, unopenable
from pteron.files.check.tensors import check_tensors
from pteron.files.check.versions import check_versions
from pteron.files.check.within import inside_bundle
from pteron.files.data_file import PTDFile
from pteron.files.program_file import PTEFile
from pteron.progress import steps

_MOST = 200
"""Findings of one family that are listed; more add nothing but length."""

_PROGRAM_FAMILIES: tuple[Callable[[PTEFile], Iterator[Finding]], ...] = (
    check_versions,
    check_names,
    check_indices,
    check_tensors,
    check_memory,
    check_segments,
    check_delegates,
    check_payloads,
)


def check(file: PTEFile | PTDFile | BundledFile) -> list[Finding]:
    """Everything that is wrong with a file, or worth knowing; an empty list for a sound one.

    Where tables do not decode, those faults are all that is listed: nothing can be said of the
    rest. At most 200 findings of each family are listed.
    """
    findings = _limited(check_structure, file)
    if findings:
        return findings
    if isinstance(file, BundledFile):
        return [*_limited(check_bundle, file), *inside_bundle(file, check)]
    if isinstance(file, PTDFile):
        return _limited(check_data, file)
    families = steps("check", _PROGRAM_FAMILIES)
    return [found for family in families for found in _limited(family, file)]


def _limited(family: Callable[..., Iterator[Finding]], file: object) -> list[Finding]:
    findings = list(islice(family(file), _MOST + 1))
    if len(findings) > _MOST:
        findings[-1] = warning("", f"more than {_MOST} findings of this kind; others not shown")
    return findings


__all__ = ["Finding", "Severity", "check", "check_for", "unopenable"]
