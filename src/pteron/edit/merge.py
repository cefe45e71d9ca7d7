"""Join programs into one that has the methods of all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pteron.edit.blob_indices import (
    Moved,
    move_constants,
    move_mutable_data,
    move_payloads,
)
from pteron.edit.memory_ids import move_memory, shared_ids
from pteron.edit.named_data_uses import external_tensors
from pteron.edit.same_memory import require_same_memory
from pteron.errors import UsageError
from pteron.files import Parts, PTEFile
from pteron.files.equal import first_equals, same_bytes
from pteron.flatbuf import Buffer, differ
from pteron.schema.program import ExecutionPlan


def merge(
    first: PTEFile, *others: PTEFile, share_memory: bool = False, share_external: bool = False
) -> PTEFile:
    """One program with the methods of all, in order; equal blobs are stored once.

    A method that several programs have with equal content (such as ``get_vocab_size``) is kept
    once. Memory id 1, a method's activations, stays as it is: runtimes that give all methods one
    such memory (ExecuTorch's Python runtime) do so in any program of several methods.

    Args:
        share_memory: memory ids from 2 on are the same memory in all programs, so that a state
            at the same place is one state. By default it is not shared: a later program's ids
            are moved behind those in use.
        share_external: tensors in data files (.ptd) that have one name in several programs have
            the same data. By default that is an error, as one file would serve both.

    Raises:
        UsageError: methods, named data or external tensors of one name differ; shared memory does
            not hold the same in all programs; or the programs' schema versions differ.
    """
    merged = first.parts()
    for other in others:
        _absorb(merged, other.parts(), share_memory=share_memory, share_external=share_external)
    return PTEFile(**vars(merged))


def _absorb(into: Parts, other: Parts, *, share_memory: bool, share_external: bool) -> None:
    if into.program.version != other.program.version:
        raise UsageError(
            f"the programs have schema versions {into.program.version} and {other.program.version}"
        )
    _join_constants(into, other)
    _join_mutable_data(into, other)
    _join_payloads(into, other)
    plans, clashes = _new_methods(into, other)
    clashes += _join_named_data(into, other)
    if not share_external:
        clashes += _external_clashes(into.program.execution_plan, plans)
    if clashes:
        raise UsageError(f"the programs do not go together: {'; '.join(clashes)}")
    _arrange_memory(into, other, plans, share=share_memory)
    into.program.execution_plan += plans
    into.segment_alignment = max(into.segment_alignment, other.segment_alignment)
    into.constant_alignment = max(into.constant_alignment, other.constant_alignment)
    into.unknown_fields = [*into.unknown_fields, *other.unknown_fields]


# Blobs


def _join_constants(into: Parts, other: Parts) -> None:
    into.constants, ours, theirs = _joined(into.constants, other.constants, reserved=1)
    move_constants(into.program, ours)
    move_constants(other.program, theirs)


def _join_mutable_data(into: Parts, other: Parts) -> None:
    groups = []
    for group in range(max(len(into.mutable_data), len(other.mutable_data))):
        pair = (_nth(into.mutable_data, group), _nth(other.mutable_data, group))
        blobs, ours, theirs = _joined(*pair, reserved=1)
        move_mutable_data(into.program, group, ours)
        move_mutable_data(other.program, group, theirs)
        groups.append(blobs)
    into.mutable_data = groups


def _nth(groups: Sequence[Sequence[Buffer]], group: int) -> Sequence[Buffer]:
    return groups[group] if group < len(groups) else []


def _join_payloads(into: Parts, other: Parts) -> None:
    blobs, ours, theirs = _joined(into.delegate_payloads, other.delegate_payloads, reserved=0)
    into.delegate_payloads = blobs
    move_payloads(into.program, ours)
    move_payloads(other.program, theirs)


def _joined(
    one: Sequence[Buffer], other: Sequence[Buffer], *, reserved: int
) -> tuple[list[Buffer], Moved, Moved]:
    """The distinct blobs of both, and where those of ``one`` and of ``other`` are among them.

    The first ``reserved`` entries are no blobs, and stay in front.
    """
    blobs = [*one[reserved:], *other[reserved:]]
    first = first_equals(blobs)
    place = {index: reserved + n for n, index in enumerate(dict.fromkeys(first))}
    places = [place[index] for index in first]
    split = max(len(one) - reserved, 0)
    keep = {index: index for index in range(reserved)}
    ours = keep | dict(enumerate(places[:split], reserved))
    theirs = keep | dict(enumerate(places[split:], reserved))
    return [*[b""] * reserved, *(blobs[index] for index in place)], ours, theirs


# Names


def _new_methods(into: Parts, other: Parts) -> tuple[list[ExecutionPlan], list[str]]:
    """The methods of ``other`` that ``into`` lacks, and what is wrong with the rest."""
    known = {plan.name: plan for plan in into.program.execution_plan}
    new = [plan for plan in other.program.execution_plan if plan.name not in known]
    clashes = [
        f"both have a method {plan.name!r}, and they differ (rename one)"
        for plan in other.program.execution_plan
        if plan.name in known and differ(plan, known[plan.name])
    ]
    return new, clashes


def _join_named_data(into: Parts, other: Parts) -> list[str]:
    joined = dict(into.named_data)
    clashes = []
    for key, blob in other.named_data.items():
        known = joined.setdefault(key, blob)
        if not same_bytes(known.data, blob.data):
            clashes.append(f"both have named data {key!r}, and it differs")
        joined[key] = replace(known, alignment=max(known.alignment, blob.alignment))
    into.named_data = joined
    return clashes


def _external_clashes(ours: list[ExecutionPlan], theirs: list[ExecutionPlan]) -> list[str]:
    known = dict(external_tensors(ours))
    return [
        f"both take {name!r} from a data file, which cannot serve both"
        " (inline it, or share external data)"
        for name in dict(external_tensors(theirs))
        if name in known
    ]


# Memory


def _arrange_memory(
    into: Parts, other: Parts, plans: Sequence[ExecutionPlan], *, share: bool
) -> None:
    ours, theirs = shared_ids(into.program.execution_plan), shared_ids(plans)
    if share:
        require_same_memory(into, other)
    elif ours & theirs:
        _refuse_to_split(other, plans)
        distance = max(ours) - min(theirs) + 1
        moved = {memory: memory + distance for memory in theirs}
        for plan in plans:
            move_memory(plan, moved)


def _refuse_to_split(other: Parts, plans: Sequence[ExecutionPlan]) -> None:
    """A method kept only once cannot share one program's memory and another's too."""
    kept = {plan.name for plan in plans}
    for plan in other.program.execution_plan:
        if plan.name not in kept and shared_ids([plan]) & shared_ids(plans):
            raise UsageError(
                f"both have the method {plan.name!r}, and other methods share memory with it:"
                " rename one, or share memory"
            )
