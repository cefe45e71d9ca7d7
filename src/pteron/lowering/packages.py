"""Delegates of several methods put into one package, where they have weights in common."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pteron.files.parts import NamedBlob
from pteron.lowering.coreml.multifunction import Joined, join

if TYPE_CHECKING:
    from pteron.lowering.method import LoweredMethod
    from pteron.lowering.options import CoreML
    from pteron.lowering.outer import Delegate


@dataclass(frozen=True)
class PackageSummary:
    """A package of several functions: its named data, its functions, and what it saves.

    ``saved_bytes`` is how much smaller the file is than with a payload for each delegate.
    """

    key: str
    functions: tuple[str, ...]
    bytes: int
    saved_bytes: int

    def __str__(self) -> str:
        functions = ", ".join(self.functions)
        return (
            f"{functions}: functions of one package, {self.bytes:,} bytes, "
            f"{self.saved_bytes:,} saved (named data {self.key})"
        )


def gather(
    methods: Sequence[LoweredMethod], backend: CoreML | None, required: Collection[int] = ()
) -> tuple[dict[str, NamedBlob], tuple[PackageSummary, ...]]:
    """Let delegates refer to common packages; what the file's named data then has to hold.

    ``required`` are the numbers of delegates that share state, whatever that costs.
    """
    data: dict[str, NamedBlob] = {}
    packages: list[PackageSummary] = []
    if backend is None or not backend.multifunction or not backend.has_state:
        return data, ()
    for number in range(max((len(method.delegates) for method in methods), default=0)):
        group = {m.name: m.delegates[number][1] for m in methods if number < len(m.delegates)}
        if len(group) < 2:
            continue
        joined = join({name: delegate.model for name, delegate in group.items()})
        saved = _saved(group, joined)
        if number in required or (joined.common and saved > 0):
            for name, delegate in group.items():
                delegate.payload = joined.references[name]
            data[joined.key] = NamedBlob(joined.data)
            packages.append(PackageSummary(joined.key, tuple(group), len(joined.data), saved))
    return data, tuple(packages)


def _saved(group: Mapping[str, Delegate], joined: Joined) -> int:
    """Bytes less than with a payload for each delegate; equal ones would be stored once anyway."""
    apart = sum(len(payload) for payload in {delegate.payload for delegate in group.values()})
    return apart - len(joined.data) - sum(map(len, joined.references.values()))
