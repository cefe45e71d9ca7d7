"""What delegates put in program files, and who can read it."""

from pteron.payloads.base import PayloadSource
from pteron.payloads.parts import Part
from pteron.payloads.reader import PayloadReader, PayloadSummary
from pteron.payloads.registry import find_reader, known_backends, open_payload, register

__all__ = [
    "Part",
    "PayloadReader",
    "PayloadSource",
    "PayloadSummary",
    "find_reader",
    "known_backends",
    "open_payload",
    "register",
]
