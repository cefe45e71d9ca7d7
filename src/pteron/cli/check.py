"""``pteron check``: everything that is wrong with a file, or with running it somewhere."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from pteron.cli.options import any_file, json_option
from pteron.cli.output import print_json

if TYPE_CHECKING:
    from pteron.files.check import Finding
    from pteron.files.runtimes import Runtime

_INVALID = 1


class _RuntimeName(click.ParamType):  # type: ignore[type-arg]
    """The name of a released runtime."""

    name = "runtime"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        from pteron.files.runtimes import find_runtime

        return find_runtime(value)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        from pteron.files.runtimes import RUNTIMES

        return [
            CompletionItem(name, help=one.title)
            for name, one in RUNTIMES.items()
            if name.startswith(incomplete)
        ]


@click.command()
@any_file
@click.option(
    "--for",
    "runtime",
    type=_RuntimeName(),
    metavar="RUNTIME",
    help="A runtime that is to run it, such as executorch-1.5.1 or executorch-ios18.",
)
@json_option
def check(file: Path, runtime: Runtime | None, json: bool) -> None:
    """Say everything that is wrong with a file.

    Exit 0 if it is sound, 1 if it is not. Warnings and notes do not make a file invalid. With
    --for, exit 1 also if that runtime would reject it: for a backend or a kernel that it does
    not have, or for Core ML state that it does not bind.
    """
    from pteron.files.check import Severity

    findings = _findings(file, runtime)
    errors = sum(finding.severity is Severity.ERROR for finding in findings)
    if json:
        answer = {"valid": not errors, "findings": [_as_json(found) for found in findings]}
        print_json(answer | ({"runtime": runtime.name} if runtime else {}))
    else:
        _print(file, findings, errors, runtime)
    if errors:
        raise SystemExit(_INVALID)


def _findings(file: Path, runtime: Runtime | None) -> list[Finding]:
    import pteron
    from pteron.errors import FormatError
    from pteron.files.check import Severity, check_for, unopenable
    from pteron.files.check import check as check_file

    try:
        with pteron.open(file) as opened:
            findings = check_file(opened)
            sound = all(finding.severity is not Severity.ERROR for finding in findings)
            return findings + (check_for(opened, runtime) if runtime and sound else [])
    except FormatError as fault:
        return [unopenable(fault)]


def _as_json(finding: Finding) -> dict[str, str]:
    return {
        "severity": finding.severity.value,
        "where": finding.where,
        "message": finding.message,
    }


def _print(file: Path, findings: list[Finding], errors: int, runtime: Runtime | None) -> None:
    from pteron.cli.text import counted, one_line

    for finding in findings:
        click.echo(one_line(str(finding)))
    numbers = Counter(finding.severity.value for finding in findings)
    suited = f" for {runtime.name}" if runtime else ""
    verdict = [f"invalid{suited}: {counted(errors, 'error')}" if errors else f"valid{suited}"]
    verdict += [counted(numbers[kind], kind) for kind in ("warning", "note") if numbers[kind]]
    click.echo(f"{file}: {', '.join(verdict)}")
