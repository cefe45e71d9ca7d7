"""The ``pteron`` command: parse, call, print. Logic lives in the rooms beneath."""

from __future__ import annotations

from pteron.cli.main import main

__all__ = ["main"]
