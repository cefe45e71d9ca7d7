"""What a benchmark found, ready for a table or JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Latency:
    """Wall time of one call in seconds."""

    mean: float
    p50: float
    p90: float
    p99: float
    least: float
    most: float


@dataclass(frozen=True)
class Throughput:
    """Calls per second of all streams, each called from a thread of its own."""

    streams: int
    calls_per_second: float


@dataclass(frozen=True)
class LoadCost:
    """What loading costs. Times are seconds of look-up, compilation and import of all payloads.

    Attributes:
        cold: with an empty cache: compiled and stored; None for a program without payloads.
        hit: from the cache.
        payload_bytes: size of all delegates' payloads, or of the package.
        peak_bytes: growth of resident memory during the cold load, without what is mapped into
            memory only; None where the system does not tell.
    """

    cold: float | None
    hit: float | None
    payload_bytes: int
    peak_bytes: int | None


@dataclass(frozen=True)
class MemoryLimit:
    """How near a call comes to reading its weights once and doing nothing else.

    Attributes:
        weight_bytes: constants that a call must read whole: all that the method uses, but for
            tables of which it only gathers rows.
        bandwidth: measured streaming read bandwidth, bytes per second.
        calls_per_second: bandwidth over weight_bytes; None without weights.
        fraction: of that limit, what was reached.
    """

    weight_bytes: int
    bandwidth: float
    calls_per_second: float | None
    fraction: float | None


@dataclass(frozen=True)
class OpCost:
    """Time of one type of operation in an average call, in seconds."""

    type: str
    kernel: str
    count: int
    seconds: float


@dataclass(frozen=True)
class InstructionCost:
    """One delegate or kernel call of the method in an average call.

    Attributes:
        instruction: index in the plan's chain.
        kind: ``delegate`` or ``kernel``.
        name: backend id, or operator.
        delegate: index of the delegate.
        seconds: wall time, with the taking of times inside of it.
        ops: by type, where the engine tells.
    """

    instruction: int
    kind: str
    name: str
    delegate: int | None
    seconds: float
    ops: tuple[OpCost, ...]


@dataclass(frozen=True)
class Result:
    """All of it.

    Attributes:
        state_bytes: size of all states of the program.
        state_bytes_copied: bytes of delegates' states written anew at each call beside what
            changes; None where no engine tells.
        rewrites: how often each named rewrite was applied to the method's payload functions.
    """

    file: str
    method: str
    engine: str
    precision: str
    threads: int | None
    warmup: int
    repeat: int
    load: LoadCost
    latency: Latency
    throughput: Throughput
    limit: MemoryLimit
    state_bytes: int
    state_bytes_copied: int | None
    rewrites: Mapping[str, int]
    instructions: tuple[InstructionCost, ...] = field(default=())

    @property
    def calls_per_second(self) -> float:
        """Throughput of one stream."""
        return 1 / self.latency.mean
