"""Engines: what compiles and executes a payload on this machine."""

from __future__ import annotations

from pteron.engines.registry import ENTRY_POINTS, select

__all__ = ["ENTRY_POINTS", "select"]
