"""Two files: what changed, and which instructions of one are which of the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any

from pteron.files.diff import diff
from pteron.report.collect import AnyFile

_LONGEST = 4000
"""Instructions between the first and the last that differ which are still matched one by one."""


def compare(before: AnyFile, after: AnyFile) -> list[dict[str, Any]]:
    """Every change, as ``pteron diff --json`` gives them."""
    return [change.as_json() for change in diff(before, after)]


def matches(before: Any, after: Any) -> dict[str, list[list[int]]]:
    """Runs [first, other first, length] of equal steps of each method that both files have.

    Takes the collected methods. An instruction equals another if it calls the same operator, or a
    delegate of the same backend, with values of the same types. The operations of a delegate's
    function that both have are compared alike, under ``method[delegate]/function``.
    """
    if not isinstance(before, list) or not isinstance(after, list):
        return {}
    ours, theirs = (dict(_sequences(methods)) for methods in (before, after))
    return {name: align(ours[name], theirs[name]) for name in ours if name in theirs}


def _sequences(methods: Iterable[Any]) -> Iterator[tuple[str, list[tuple[Any, ...]]]]:
    for method in methods:
        yield method["name"], _keys(method)
        for index, delegate in enumerate(method["delegates"]):
            for function in delegate.get("functions", ()):
                name = f"{method['name']}[{index}]/{function['name']}"
                yield name, [(op["t"], *op["o"]) for op in function["ops"]]


def align(ours: Sequence[Any], theirs: Sequence[Any]) -> list[list[int]]:
    """Runs [first, other first, length] that are equal, in order."""
    shorter = min(len(ours), len(theirs))
    head = next((i for i in range(shorter) if ours[i] != theirs[i]), shorter)
    rest = shorter - head
    tail = next((i for i in range(rest) if ours[-1 - i] != theirs[-1 - i]), rest)
    middle = ours[head : len(ours) - tail], theirs[head : len(theirs) - tail]
    runs = [[0, 0, head]]
    if max(map(len, middle)) <= _LONGEST:
        found = SequenceMatcher(None, *middle, autojunk=False).get_matching_blocks()
        runs += [[head + m.a, head + m.b, m.size] for m in found]
    runs.append([len(ours) - tail, len(theirs) - tail, tail])
    return [run for run in runs if run[2]]


def _keys(method: Any) -> list[tuple[Any, ...]]:
    run, values = method["run"], method["values"]
    if "error" in run or "error" in values:
        return []
    return [
        (kind, _target(method, kind, target), *(values[i]["t"] for i in (*reads, *writes)))
        for kind, target, _, reads, _, writes in run["steps"]
    ]


def _target(method: Any, kind: str, target: int) -> Any:
    names = {
        "kernel": method["run"]["operators"],
        "delegate": [delegate["backend"] for delegate in method["delegates"]],
    }.get(kind, [])
    return names[target] if 0 <= target < len(names) else target
