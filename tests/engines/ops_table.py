"""Write ``docs/ops.md``, the table of MIL ops, from the registry.

python -m tests.engines.ops_table
"""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from pteron.engines.openvino.registry import OPSETS, OpSpec, all_ops

PATH = Path(__file__).parents[2] / "docs" / "ops.md"
_HEAD = """# MIL ops on OpenVINO

Written by `python -m tests.engines.ops_table` from the registry in `pteron.engines.openvino`.
Opsets: {opsets}. *Since* is the iOS release whose opset brought the op, *changed* those that gave
it another meaning or more inputs. *Tested against* names what its results are compared with in
`tests/engines`; besides, coremltools' own tests of every op run by `make conformance`.
What differs from Core ML, and what cannot be done, is in [coreml.md](coreml.md).
"""
_ROW = "| `{name}` | {since} | {changed} | {tested} |"


def render() -> str:
    """The whole document."""
    opsets = ", ".join(f"{name} (iOS {release})" for name, release in OPSETS.items())
    specs = sorted(all_ops().values(), key=lambda versions: (_family(versions), versions[0].name))
    sections = [_section(family, list(ops)) for family, ops in groupby(specs, key=_family)]
    return "\n".join([_HEAD.format(opsets=opsets), f"{len(specs)} ops.", "", *sections])


def _family(versions: list[OpSpec]) -> str:
    return versions[0].family


def _section(family: str, ops: list[list[OpSpec]]) -> str:
    rows = [_row(versions) for versions in ops]
    head = ["| op | since | changed | tested against |", "|---|---|---|---|"]
    return "\n".join([f"## {family.replace('_', ' ')}", "", *head, *rows, ""])


def _row(versions: list[OpSpec]) -> str:
    since, *later = [f"{spec.since}" for spec in versions]
    tested = ", ".join(dict.fromkeys(spec.tested_against for spec in versions))
    return _ROW.format(name=versions[0].name, since=since, changed=", ".join(later), tested=tested)


if __name__ == "__main__":
    PATH.write_text(render(), encoding="utf-8")
