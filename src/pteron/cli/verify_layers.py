"""``pteron verify --layers``: the first value that PyTorch computes otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pteron.cli.model import built
from pteron.cli.output import print_json
from pteron.cli.text import one_line
from pteron.errors import UsageError

if TYPE_CHECKING:
    from pteron.runtime.verify import Tolerance

_FAILED = 1


def verify_layers(
    file: Path,
    model: str,
    tolerances: Mapping[str, Tolerance],
    *,
    data: Sequence[Path],
    engine: str | None,
    precision: str,
    json: bool,
) -> None:
    """Print the first divergence, and exit with 1 if there is one."""
    import pteron
    from pteron.files import BundledFile, PTDFile
    from pteron.runtime.verify import value_of

    source = built(model)
    from pteron.layers import first_divergence

    with pteron.open(file) as opened:
        if isinstance(opened, PTDFile):
            raise UsageError(f"{file} holds data only; give the program that uses it")
        cases = None
        if isinstance(opened, BundledFile):
            cases = {
                suite.method_name: [
                    [value_of(value, suite.method_name) for value in case.inputs]
                    for case in suite.test_cases
                ]
                for suite in opened.test_suites
            }
        found = first_divergence(
            opened.pte if isinstance(opened, BundledFile) else opened,
            source.model,
            source.inputs,
            cases=cases,
            options=source.options,
            tolerances=tolerances,
            data=data,
            engine=engine,
            precision=precision,
        )
    if json:
        print_json({"first_divergence": None if found is None else _finite(asdict(found))})
    else:
        click.echo("every value is near enough" if found is None else one_line(str(found)))
    if found is not None:
        raise SystemExit(_FAILED)


def _finite(answer: dict[str, Any]) -> dict[str, Any]:
    """JSON has no infinity: it becomes null."""
    return {
        name: None if isinstance(value, float) and not isfinite(value) else value
        for name, value in answer.items()
    }
