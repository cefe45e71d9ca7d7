"""Leave methods out of a program."""

from __future__ import annotations

from collections.abc import Iterable

from pteron.edit.blob_indices import drop_unused_blobs
from pteron.edit.memory_ids import close_gaps, shared_ids
from pteron.edit.named_data_uses import without_unused
from pteron.edit.plans import require_methods
from pteron.edit.training import companions
from pteron.errors import UsageError
from pteron.files import PTEFile


def drop(file: PTEFile, methods: Iterable[str]) -> PTEFile:
    """The program without some methods, and without the data that only they used.

    Memory ids from 2 on that only they used are given up. Named data that a remaining delegate
    may ask for stays: it goes only where every remaining payload can be read.

    Raises UsageError where a method does not exist, or none would be left.
    """
    gone = set(methods)
    require_methods(file.program, sorted(gone))
    for name in sorted(gone):
        gone.update(companions(file.program, name).values())
    parts = file.parts()
    plans = parts.program.execution_plan
    kept = [plan for plan in plans if plan.name not in gone]
    if not kept:
        raise UsageError("a program needs a method: not all can be dropped")
    parts.program.execution_plan = kept
    close_gaps(kept, shared_ids(plans) - shared_ids(kept))
    drop_unused_blobs(parts)
    if len(kept) < len(plans):
        parts.named_data = without_unused(parts, parts.named_data)
    return PTEFile(**vars(parts))
