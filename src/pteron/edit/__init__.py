"""Edits of program files: each takes a file and gives a new one, and leaves the given one alone.

Blobs are not copied: the new file has views of the same bytes, and keeps them alive. Fields of a
newer schema are lost when a file is made anew, so saving then asks for ``drop_unknown``.
"""

from __future__ import annotations

from pteron.edit.bundle import bundle
from pteron.edit.cases import Case, cases_from_arrays
from pteron.edit.constant_methods import add_constant_methods
from pteron.edit.drop import drop
from pteron.edit.externalise import externalise
from pteron.edit.inline import inline
from pteron.edit.merge import merge
from pteron.edit.realign import realign
from pteron.edit.rename import rename
from pteron.edit.replace_constant import replace_constant
from pteron.edit.replace_coreml import replace_coreml
from pteron.edit.replace_named import replace_external, replace_named
from pteron.edit.replace_payload import replace_payload
from pteron.edit.strip_debug import strip_payload_debug_info, strip_stack_traces
from pteron.edit.strip_unused import strip_unused
from pteron.edit.unbundle import arrays_from_bundle

__all__ = [
    "Case",
    "add_constant_methods",
    "arrays_from_bundle",
    "bundle",
    "cases_from_arrays",
    "drop",
    "externalise",
    "inline",
    "merge",
    "realign",
    "rename",
    "replace_constant",
    "replace_coreml",
    "replace_external",
    "replace_named",
    "replace_payload",
    "strip_payload_debug_info",
    "strip_stack_traces",
    "strip_unused",
]
