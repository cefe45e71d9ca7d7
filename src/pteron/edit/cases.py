"""Test cases of a program, and their layout in an .npz file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pteron.edit.tensor_bytes import Array
from pteron.errors import UsageError
from pteron.suggestions import listed, meant

ROLES = ("input", "output")
_CASE = re.compile("[0-9]{1,9}")


@dataclass
class Case:
    """One call of a method: arrays by name or position (``"0"``) of inputs and outputs."""

    inputs: dict[str, Array] = field(default_factory=dict)
    outputs: dict[str, Array] = field(default_factory=dict)

    def role(self, role: str) -> dict[str, Array]:
        """The inputs or the outputs."""
        return self.inputs if role == "input" else self.outputs


Cases = Mapping[str, Sequence[Case]]
"""Method name -> its cases."""


def cases_from_arrays(arrays: Mapping[str, Array], method: str) -> dict[str, list[Case]]:
    """Cases from arrays by key, as an .npz file holds them.

    A key is ``METHOD/CASE/input/NAME`` or ``METHOD/CASE/output/NAME``, where CASE counts from 0
    and NAME is a name or a position. For one case of ``method``, ``input/NAME``,
    ``output/NAME`` and plain ``NAME`` (an input) do.

    Raises UsageError for a key of another form, one thing given twice, or cases not counted from 0.
    """
    if not arrays:
        raise UsageError("there are no test cases")
    found: dict[str, dict[int, Case]] = {}
    for key, array in arrays.items():
        name, number, role, value = _parse(key, method)
        case = found.setdefault(name, {}).setdefault(number, Case())
        if value in case.role(role):
            raise UsageError(f"{role} {value!r} of {name!r}, case {number}, is there twice")
        case.role(role)[value] = array
    return {name: _counted(name, cases) for name, cases in found.items()}


def _parse(key: str, method: str) -> tuple[str, int, str, str]:
    """Method, case, role and name that a key says."""
    levels = key.split("/")
    if len(levels) == 1:
        return method, 0, "input", key
    if levels[0] in ROLES:
        return method, 0, levels[0], "/".join(levels[1:])
    if len(levels) >= 4 and levels[2] in ROLES and _CASE.fullmatch(levels[1]):
        return levels[0], int(levels[1]), levels[2], "/".join(levels[3:])
    raise UsageError(
        f"the key {key!r} is neither METHOD/CASE/input/NAME, METHOD/CASE/output/NAME,"
        " input/NAME, output/NAME nor NAME"
    )


def _counted(method: str, cases: Mapping[int, Case]) -> list[Case]:
    if sorted(cases) != list(range(len(cases))):
        raise UsageError(f"the cases of {method!r} must be counted from 0, without a gap")
    return [cases[number] for number in range(len(cases))]


def in_order(given: Mapping[str, Array], names: Sequence[str], where: str) -> list[Array]:
    """One array per name, in order, from arrays by name or position.

    Raises UsageError, which begins with ``where``, for one too many, too few or twice.
    """
    found = {_position(name, names, where): array for name, array in given.items()}
    if len(found) < len(given):
        raise UsageError(f"{where}: one is given by name and by position")
    if missing := [name for position, name in enumerate(names) if position not in found]:
        raise UsageError(f"{where}: {', '.join(missing)} missing")
    return [found[position] for position in range(len(names))]


def _position(name: str, names: Sequence[str], where: str) -> int:
    for known in (list(names), [str(position) for position in range(len(names))]):
        if name in known:
            return known.index(name)
    raise UsageError(f"{where}: no {name!r}{meant(name, names)}; there are: {listed(names)}")
