"""Where a command's words go: answers to stdout, messages to stderr."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

JsonOption = Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")]


def print_json(answer: Mapping[str, Any] | Sequence[Any]) -> None:
    """Write an answer for programs: UTF-8 JSON, one document, to stdout."""
    typer.echo(json.dumps(answer, indent=2, ensure_ascii=False))
