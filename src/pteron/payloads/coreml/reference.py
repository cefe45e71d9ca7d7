"""A Core ML payload that is only a reference to a model in named data.

ExecuTorch stores a model that several methods share once, in named data, and gives each delegate
the magic ``CMJR`` followed by a JSON object with ``version`` (1), ``key`` and ``functionName``
(source: ExecuTorch's ``backends/apple/coreml/compiler/coreml_preprocess.py``).
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from pteron.errors import UnsupportedError
from pteron.payloads.strict_json import parse_object, string

MAGIC = b"CMJR"
VERSION = 1


@dataclass(frozen=True)
class ModelReference:
    """Which named blob holds the model, and which of its functions the delegate calls."""

    key: str
    function: str

    def to_bytes(self) -> bytes:
        """The payload, as ExecuTorch spells it."""
        fields = {"version": VERSION, "key": self.key, "functionName": self.function}
        return MAGIC + json.dumps(fields).encode("utf-8")


def read_reference(payload: memoryview) -> ModelReference | None:
    """The reference a payload is, or ``None`` when it is none.

    Raises UnsupportedError for a version other than 1, FormatError for what else is wrong.
    """
    if payload[: len(MAGIC)] != MAGIC:
        return None
    fields = parse_object(bytes(payload[len(MAGIC) :]), "model reference")
    if fields.get("version") != VERSION:
        raise UnsupportedError(
            f"model reference of version {fields.get('version')!r:.40}; pteron reads {VERSION}"
        )
    return ModelReference(
        key=string(fields.get("key"), "model reference: key"),
        function=string(fields.get("functionName"), "model reference: functionName"),
    )
