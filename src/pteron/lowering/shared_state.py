"""Buffers of several methods as one state of one package: only on request.

Core ML makes a state for each loaded function, and so does ExecuTorch's Core ML delegate: each
method would see a value of its own there. pteron's runtime gives the delegates that declare it
(compile spec ``pteron.states``, ``shared``) one session, and so one value.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pteron.files.state_names import STATES_KEY
from pteron.lowering.state import Owner

if TYPE_CHECKING:
    from pteron.lowering.method import LoweredMethod

Place = tuple[int, str]
"""Number of a delegate in its method, and a state's name in its payload."""


class ApartError(Exception):
    """Buffers that the delegates of the methods cannot share, with reasons."""

    def __init__(self, reasons: Mapping[str, str]) -> None:
        self.reasons = reasons
        super().__init__(", ".join(reasons))


def require_together(
    methods: Sequence[LoweredMethod], wanted: Mapping[str, Sequence[str]]
) -> dict[str, Place]:
    """Where each wanted buffer is, the same in all of its methods. Raises :class:`ApartError`."""
    found: dict[str, Place] = {}
    apart: dict[str, str] = {}
    for name, users in wanted.items():
        places = {m.name: _place(m, name) for m in methods if m.name in users}
        outside = [method for method, place in places.items() if place is None]
        distinct = set(places.values())
        if outside:
            (lowered,) = (m for m in methods if m.name == outside[0])
            why = lowered.state.buffers[name].reason
            apart[name] = f"method {outside[0]} keeps it from a delegate: {why}"
        elif len(distinct) > 1:
            apart[name] = "it is in delegates of different numbers, which no package has together"
        else:
            (place,) = distinct
            assert place is not None
            found[name] = place
    for name, (number, _) in found.items():
        if _clash(methods, number):
            apart[name] = "two buffers would have one name in the package"
    if apart:
        raise ApartError(apart)
    return found


def _place(method: LoweredMethod, name: str) -> Place | None:
    for number, (region, _) in enumerate(method.delegates):
        if name in region.states:
            return number, region.states[name]
    return None


def _clash(methods: Sequence[LoweredMethod], number: int) -> bool:
    """Whether different buffers have the same name in delegates of that number."""
    regions = [m.delegates[number][0] for m in methods if number < len(m.delegates)]
    pairs = {pair for region in regions for pair in region.states.items()}
    return len({inside for _, inside in pairs}) < len(pairs)


def declare(methods: Sequence[LoweredMethod], shared: Mapping[str, Place]) -> None:
    """Note in delegates and records that methods share a state."""
    for name, (number, _) in shared.items():
        users = [m for m in methods if _place(m, name) is not None]
        for method in users:
            record = method.state.buffers[name]
            others = ", ".join(user.name for user in users)
            record.give(
                Owner.DELEGATE,
                f"delegates {number} of methods {others} share it as asked, in pteron's runtime "
                "only",
            )
            _mark(method, number, name)


def warn(shared: Mapping[str, Place]) -> None:
    """Say which runtimes do not share what delegates share here; called by ``lower`` itself."""
    if shared:
        warnings.warn(
            f"state {', '.join(shared)} is one value for all methods in pteron's runtime only: "
            "ExecuTorch's Core ML runtime makes a state for each method, and the methods would "
            "not see each other's writes there",
            stacklevel=3,
        )


def _mark(method: LoweredMethod, number: int, name: str) -> None:
    _, delegate = method.delegates[number]
    states = json.loads(delegate.compile_specs[STATES_KEY])
    for state in states:
        if state["name"] == name:
            state["shared"] = True
    text = json.dumps(states, ensure_ascii=False)
    delegate.compile_specs = {**delegate.compile_specs, STATES_KEY: text.encode()}
