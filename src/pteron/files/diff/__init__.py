"""How two files differ."""

from __future__ import annotations

from collections.abc import Iterator

from pteron.files.bundled_file import BundledFile
from pteron.files.data_file import PTDFile
from pteron.files.diff.change import Change
from pteron.files.diff.compare import compare
from pteron.files.diff.contents import bundle_tensors, data_tensors, program_tensors
from pteron.files.diff.distance import Distance
from pteron.files.diff.facts import program_facts
from pteron.files.diff.methods import compare_methods
from pteron.files.diff.tensors import compare_tensors, same_bytes
from pteron.files.program_file import PTEFile
from pteron.files.saved_view import saved_view
from pteron.progress import stage

__all__ = ["Change", "Distance", "diff"]

AnyFile = PTEFile | PTDFile | BundledFile


@stage("compare")
def diff(before: AnyFile, after: AnyFile) -> list[Change]:
    """Every difference between two files: empty if, and only if, their bytes are the same.

    Methods, signatures, steps, operators, memory plan, delegates, what is inside payloads, states,
    named data, segments; constants, initial values and weights by name, with their distance. Files
    that are alike in all of that but not in their bytes (another order of tables, other padding)
    differ in one thing, ``layout``. Raises FormatError where a file is damaged.
    """
    one, other = saved_view(before), saved_view(after)
    if same_bytes(one, other):
        return []
    changes = list(_changes(before, after))
    sizes = Change(("size",), "changed", len(one), len(other))
    if not changes:
        changes = [
            Change(("layout",), "changed", "the same in all that is compared", "other bytes")
        ]
    return [sizes, *changes] if len(one) != len(other) else changes


def _changes(before: AnyFile, after: AnyFile) -> Iterator[Change]:
    if isinstance(before, PTEFile) and isinstance(after, PTEFile):
        yield from _programs(before, after)
    elif isinstance(before, PTDFile) and isinstance(after, PTDFile):
        yield from _alignments(before, after)
        yield from compare_tensors(data_tensors(before), data_tensors(after), ("named_data",))
    elif isinstance(before, BundledFile) and isinstance(after, BundledFile):
        yield from _programs(before.pte, after.pte)
        yield from compare_tensors(bundle_tensors(before), bundle_tensors(after), ("test_cases",))
    else:
        yield Change(("kind",), "changed", _kind(before), _kind(after))


def _programs(before: PTEFile, after: PTEFile) -> Iterator[Change]:
    yield from compare(program_facts(before), program_facts(after))
    for name, method in before.methods.items():
        if name in after.methods:
            yield from compare_methods(method, after.methods[name])
    yield from _alignments(before, after)
    ours, theirs = program_tensors(before), program_tensors(after)
    for section, tensors in ours.items():
        if section in theirs:  # of a delegate that only one file has, its own line says it all
            yield from compare_tensors(tensors, theirs[section], section)


def _alignments(before: PTEFile | PTDFile, after: PTEFile | PTDFile) -> Iterator[Change]:
    ours, theirs = (
        {key: {"alignment": blob.alignment} for key, blob in file.named_data.items()}
        for file in (before, after)
    )
    both = ours.keys() & theirs.keys()
    yield from compare(
        {key: ours[key] for key in ours if key in both},
        {key: theirs[key] for key in both},
        ("named_data",),
    )


def _kind(file: AnyFile) -> str:
    names = {PTEFile: "program", PTDFile: "data file", BundledFile: "bundled program"}
    return names[type(file)]
