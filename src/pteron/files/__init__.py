"""Program files: PTE, PTD and bundled programs, opened, built and saved.

Beneath lie the schemas (:mod:`pteron.schema`), whose tables are what ``program``, ``flat_tensor``
and ``bundle`` give.
"""

from __future__ import annotations

from pteron.files.bundled_file import BundledFile
from pteron.files.data_file import PTDFile
from pteron.files.methods import Delegate, Method, ValueInfo
from pteron.files.opening import open
from pteron.files.parts import NamedBlob, Parts
from pteron.files.program_file import PTEFile
from pteron.files.segments import Segment
from pteron.files.tensors import byte_size

__all__ = [
    "BundledFile",
    "Delegate",
    "Method",
    "NamedBlob",
    "PTDFile",
    "PTEFile",
    "Parts",
    "Segment",
    "ValueInfo",
    "byte_size",
    "open",
]
