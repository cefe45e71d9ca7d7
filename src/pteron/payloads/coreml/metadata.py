"""``metadata.json`` of a Core ML payload: the names by which a delegate's arguments are known.

One method: ``identifier``, ``inputNames``, ``outputNames``. Several: ``identifier`` and
``methods``, name -> ``inputNames``, ``outputNames`` (source: ExecuTorch's
``backends/apple/coreml/compiler/coreml_preprocess.py``).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pteron.payloads.strict_json import mapping, parse_object, string, strings

FILE_NAME = "metadata.json"


@dataclass(frozen=True)
class MethodNames:
    """Input and output names, in the order of the delegate's arguments."""

    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Metadata:
    """What a payload says of itself.

    Attributes:
        identifier: unique name the backend gave the model (``executorch_<uuid>``).
        names: input and output names when there is one method.
        methods: function name -> names when there are several; else empty.
    """

    identifier: str
    names: MethodNames = MethodNames()
    methods: Mapping[str, MethodNames] = field(default_factory=dict)

    def to_bytes(self) -> bytes:
        """The file's content, as ExecuTorch's runtime reads it."""
        fields: dict[str, Any]
        if self.methods:
            fields = {"methods": {name: _dump(value) for name, value in self.methods.items()}}
        else:
            fields = _dump(self.names)
        return json.dumps({**fields, "identifier": self.identifier}).encode("utf-8")


def read_metadata(data: memoryview) -> Metadata:
    """Parse ``metadata.json``. Raises FormatError for whatever is wrong with it."""
    fields = parse_object(bytes(data), FILE_NAME)
    methods = mapping(fields.get("methods", {}), f"{FILE_NAME}: methods")
    return Metadata(
        identifier=string(fields.get("identifier"), f"{FILE_NAME}: identifier"),
        names=_names(fields, FILE_NAME),
        methods={
            string(name, FILE_NAME): _names(
                mapping(value, f"{FILE_NAME}: {name!r:.80}"), f"{FILE_NAME}: {name!r:.80}"
            )
            for name, value in methods.items()
        },
    )


def _names(fields: Mapping[str, Any], where: str) -> MethodNames:
    return MethodNames(
        inputs=strings(fields.get("inputNames", []), f"{where}: inputNames"),
        outputs=strings(fields.get("outputNames", []), f"{where}: outputNames"),
    )


def _dump(names: MethodNames) -> dict[str, list[str]]:
    return {"inputNames": list(names.inputs), "outputNames": list(names.outputs)}
