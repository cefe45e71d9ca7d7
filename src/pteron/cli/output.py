"""Where a command's words go: answers to stdout, messages to stderr."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import click


def print_json(answer: Mapping[str, Any] | Sequence[Any]) -> None:
    """Write an answer for programs: UTF-8 JSON, one document, to stdout."""
    click.echo(json.dumps(answer, indent=2, ensure_ascii=False))
