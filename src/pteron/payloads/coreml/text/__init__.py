"""The text form of an ML program, which compiled models hold (``model.mil``)."""

from __future__ import annotations

from pteron.payloads.coreml.text.program import parse_program

__all__ = ["parse_program"]
