"""What makes two compiled models the same one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

FORMAT_VERSION = 1
"""Version of the entries' format: part of every key, and the content of ``version.txt``."""


@dataclass(frozen=True)
class CacheKey:
    """Everything that decides what a compile produces.

    Attributes:
        payload_digest: hex digest of the payload's whole content.
        engine: the engine's short name (``openvino``).
        engine_version: version of the underlying engine.
        device_features: what of this device changes generated code (operating system, CPU flags).
        options: compile options.
    """

    payload_digest: str
    engine: str
    engine_version: str
    device_features: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)

    def parts(self) -> dict[str, str | dict[str, str]]:
        """The key in readable form, as an entry's manifest keeps it."""
        return {
            "payload_digest": self.payload_digest,
            "engine": self.engine,
            "engine_version": self.engine_version,
            "device_features": dict(sorted(self.device_features.items())),
            "options": dict(sorted(self.options.items())),
        }

    @cached_property
    def identifier(self) -> str:
        """SHA-256 over every part and the format version, in hex."""
        parts = {"format_version": FORMAT_VERSION, **self.parts()}
        canonical = json.dumps(parts, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()
