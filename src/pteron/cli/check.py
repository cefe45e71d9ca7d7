"""``pteron check``: is a file sound, and what is wrong with it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pteron.cli.options import any_file, json_option
from pteron.cli.output import print_json

if TYPE_CHECKING:
    from pteron.files.check import Finding

_INVALID = 1


@click.command()
@any_file
@json_option
def check(file: Path, json: bool) -> None:
    """Say everything that is wrong with a file.

    Exit 0 if it is sound, 1 if it is not. Warnings and notes do not make a file invalid.
    """
    from pteron.files.check import Severity

    findings = _findings(file)
    errors = sum(finding.severity is Severity.ERROR for finding in findings)
    if json:
        print_json({"valid": not errors, "findings": [_as_json(found) for found in findings]})
    else:
        _print(file, findings, errors)
    if errors:
        raise SystemExit(_INVALID)


def _findings(file: Path) -> list[Finding]:
    import pteron
    from pteron.errors import FormatError
    from pteron.files.check import check as check_file
    from pteron.files.check import unopenable

    try:
        with pteron.open(file) as opened:
            return check_file(opened)
    except FormatError as fault:
        return [unopenable(fault)]


def _as_json(finding: Finding) -> dict[str, str]:
    return {
        "severity": finding.severity.value,
        "where": finding.where,
        "message": finding.message,
    }


def _print(file: Path, findings: list[Finding], errors: int) -> None:
    from pteron.cli.text import counted, one_line

    for finding in findings:
        click.echo(one_line(str(finding)))
    numbers = Counter(finding.severity.value for finding in findings)
    verdict = [f"invalid: {counted(errors, 'error')}" if errors else "valid"]
    verdict += [counted(numbers[kind], kind) for kind in ("warning", "note") if numbers[kind]]
    click.echo(f"{file}: {', '.join(verdict)}")
