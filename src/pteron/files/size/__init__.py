"""What makes a file big: a tree of parts that sums exactly to its size."""

from __future__ import annotations

from pteron.files.bundled_file import BundledFile
from pteron.files.data_file import PTDFile
from pteron.files.opening import open
from pteron.files.program_file import PTEFile
from pteron.files.saved_view import saved_view
from pteron.files.size.bundle import bundle_parts
from pteron.files.size.data import data_parts
from pteron.files.size.program import program_parts
from pteron.payloads import Part
from pteron.progress import stage

__all__ = ["size_tree"]


@stage("measure")
def size_tree(file: PTEFile | PTDFile | BundledFile) -> Part:
    """Everything in a file with its place and size; of a modified one, as it would be saved.

    Padding and headers are parts of their own, so that the sizes of a part's children always add
    up to its own, and the root's is the file's. A payload that cannot be read is one part, with the
    reason in its note. Raises FormatError where the file itself is damaged.
    """
    view = saved_view(file)
    opened = open(view)
    if isinstance(opened, BundledFile):
        return bundle_parts(opened, view)
    return data_parts(opened, view) if isinstance(opened, PTDFile) else program_parts(opened, view)
