"""The state plan: who owns each buffer, and why."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from pteron.errors import LoweringError, UsageError
from pteron.lowering.partition import Partition, Together
from pteron.lowering.region import mutations, tensor_of
from pteron.lowering.source import describe, op_name, source_line

if TYPE_CHECKING:
    from torch.export import ExportedProgram
    from torch.fx import Node

    from pteron.lowering.options import CoreML

TakeOver = bool | Collection[str] | Callable[[str], bool]
"""Which buffers may become delegate state: all, none, names or globs, or a question per name."""

STATE_DTYPE = "float16"
"""The only dtype of Core ML state (iOS 18)."""
STATE_MAX_RANK = 5
"""Most dimensions of a Core ML tensor."""


class Owner(Enum):
    """Who holds a buffer's value between calls."""

    DELEGATE = "delegate"
    PROGRAM = "program"
    CONSTANT = "constant"


@dataclass(frozen=True)
class Access:
    """One operation that reads or writes a buffer, with its line in the user's model."""

    method: str
    op: str
    line: str

    def __str__(self) -> str:
        return f"{self.op} at {self.line}" if self.line else self.op


@dataclass
class BufferRecord:
    """All that lowering knows and decides about one buffer.

    Attributes:
        name: its ``named_buffers()`` name (or that of the parameter or constant).
        kind: ``buffer``, ``parameter`` or ``constant``.
        dtype, shape: of the model's own tensor.
        persistent: whether it is part of the model's state dict.
        zero: whether its first value is zero everywhere.
        reads, writes: the operations that touch it.
        aliases: other names of the same tensor.
        owner: who holds it; ``None`` until decided.
        delegate: index of the owning delegate, if a delegate owns it.
        stored_dtype: dtype in the delegate's state, if a delegate owns it.
        reason: one sentence why ``owner`` is the owner.
    """

    name: str
    kind: str
    dtype: str
    shape: tuple[int, ...]
    persistent: bool
    zero: bool
    reads: list[Access] = field(default_factory=list)
    writes: list[Access] = field(default_factory=list)
    aliases: list[str] = field(default_factory=list)
    owner: Owner | None = None
    delegate: int | None = None
    stored_dtype: str | None = None
    reason: str = ""

    def give(self, owner: Owner, reason: str) -> None:
        """Decide who owns it."""
        self.owner, self.reason = owner, reason


@dataclass
class StatePlan:
    """The record of every buffer of a program, by name."""

    buffers: dict[str, BufferRecord]

    @classmethod
    def merged(cls, plans: Sequence[StatePlan]) -> StatePlan:
        """The plans of several methods as one: reads and writes of all, by buffer."""
        buffers: dict[str, BufferRecord] = {}
        for name, record in [entry for plan in plans for entry in plan.buffers.items()]:
            other = buffers.get(name)
            if other is None:
                buffers[name] = record
                continue
            first, second = (other, record) if other.writes else (record, other)
            first.reads += second.reads
            first.writes += second.writes
            buffers[name] = first
        return cls(buffers)


def survey(
    method: str, program: ExportedProgram, aliases: Mapping[str, Sequence[str]]
) -> StatePlan:
    """Record every buffer, and every other tensor of the model that the method writes.

    ``aliases`` gives the other names of buffers that share memory.
    """
    import torch
    from torch.export.graph_signature import InputKind

    kinds = {
        InputKind.BUFFER: "buffer",
        InputKind.PARAMETER: "parameter",
        InputKind.CONSTANT_TENSOR: "constant",
    }
    nodes = {node.name: node for node in program.graph.nodes}
    written = mutations(program)
    plan: dict[str, BufferRecord] = {}
    for spec in program.graph_signature.input_specs:
        kind, name = kinds.get(spec.kind), str(spec.target)
        if kind is None or (kind != "buffer" and name not in written):
            continue
        tensor = tensor_of(program, name)
        record = BufferRecord(
            name=name,
            kind=kind,
            dtype=str(tensor.dtype).removeprefix("torch."),
            shape=tuple(tensor.shape),
            persistent=bool(spec.persistent),
            zero=not bool(torch.count_nonzero(tensor)),
            aliases=list(aliases.get(name, ())),
        )
        record.reads = [_access(method, u) for u in nodes[spec.arg.name].users if u.op != "output"]
        if name in written:
            final = nodes[written[name]]  # its own placeholder where only other methods write
            record.writes = [_access(method, final)] if final.name != spec.arg.name else []
        else:
            record.give(Owner.CONSTANT, "never written")
        plan[name] = record
    return StatePlan(plan)


def _access(method: str, node: Node) -> Access:
    name = str(node.target) if node.op == "call_function" else f"input {node.name}"
    return Access(method, name if "." in name else op_name(node), source_line(node))


def keep_from_delegates(
    plan: StatePlan, backend: CoreML | None, take_over: TakeOver, on_inexact: str
) -> None:
    """Give the program every buffer that no delegate may or can own.

    Raises :class:`LoweringError` for an inexact hand-over if ``on_inexact`` is ``"error"``.
    """
    wanted = _question(take_over)
    for record in plan.buffers.values():
        if record.owner is None:
            obstacle = _obstacle(record, backend, wanted, on_inexact)
            if obstacle:
                record.give(Owner.PROGRAM, obstacle)


def _obstacle(
    record: BufferRecord, backend: CoreML | None, wanted: Callable[[str], bool], on_inexact: str
) -> str:
    """Why a written buffer cannot be a delegate's; empty if it can."""
    if backend is None:
        return "no backend was asked for"
    if not wanted(record.name):
        return "take_over_mutable_buffers leaves it to the program"
    if not backend.has_state:
        return f"Core ML has no state before iOS 18 ({backend.minimum_deployment_target} asked for)"
    if record.dtype not in ("float16", "float32"):
        return f"Core ML state cannot hold {record.dtype}"
    if not 1 <= len(record.shape) <= STATE_MAX_RANK:
        return f"Core ML state cannot have rank {len(record.shape)}"
    if not record.zero:
        return "its first value is not zero, and Core ML state begins at zero"
    if record.dtype != STATE_DTYPE and on_inexact == "keep":
        return f"Core ML state is {STATE_DTYPE}, the buffer is {record.dtype}"
    if record.dtype != STATE_DTYPE and on_inexact == "error":
        raise LoweringError(
            f"buffer {record.name} is {record.dtype} and Core ML state is {STATE_DTYPE}: make the "
            "buffer float16, or choose on_inexact='cast' (rounds it) or 'keep' (program owns it)"
        )
    return ""


def _question(take_over: TakeOver) -> Callable[[str], bool]:
    if isinstance(take_over, bool):
        return lambda _: take_over
    if callable(take_over):
        return take_over
    patterns = _patterns(take_over)
    return lambda name: any(fnmatchcase(name, pattern) for pattern in patterns)


def _patterns(take_over: str | Collection[str]) -> list[str]:
    return [take_over] if isinstance(take_over, str) else list(take_over)


def require_matches(take_over: TakeOver, mutable: Collection[str]) -> None:
    """Raise :class:`UsageError` for a name or glob that is no mutable buffer's of any method."""
    if isinstance(take_over, bool) or callable(take_over):
        return
    for pattern in _patterns(take_over):
        if not any(fnmatchcase(name, pattern) for name in mutable):
            known = f"they are {', '.join(sorted(mutable))}" if mutable else "the model has none"
            raise UsageError(
                f"take_over_mutable_buffers: {pattern!r} matches no mutable buffer; {known}"
            )


def touching(plan: StatePlan, program: ExportedProgram) -> list[Together]:
    """Every operation that reads or writes each buffer that a delegate may own."""
    nodes = {node.name: node for node in program.graph.nodes}
    specs = {str(spec.target): spec for spec in program.graph_signature.input_specs}
    written = mutations(program)
    sets = []
    for name in [name for name, record in plan.buffers.items() if record.owner is None]:
        uses = [*nodes[specs[name].arg.name].users, nodes[written[name]]]
        sets.append(Together(name, tuple(node for node in uses if node.op == "call_function")))
    return sets


def settle(plan: StatePlan, sets: Sequence[Together], division: Partition) -> None:
    """Give each buffer to the one region that does all its reads and writes.

    What no single region covers goes to the program, with the operation that stands outside.
    """
    home = {node: index for index, region in enumerate(division.regions) for node in region}
    for group in sets:
        record = plan.buffers[group.name]
        homes = {home.get(node) for node in group.nodes}
        owner = homes.pop() if homes else None
        if group.name in division.parted:
            record.give(Owner.PROGRAM, _parted(group, division.parted[group.name]))
        elif not group.nodes:
            record.give(Owner.PROGRAM, "the method computes nothing with it")
        elif homes or owner is None:
            record.give(Owner.PROGRAM, "other buffers keep its reads and writes apart")
        else:
            record.delegate, record.stored_dtype = owner, STATE_DTYPE
            cast = f", rounded from {record.dtype}" if record.dtype != STATE_DTYPE else ""
            record.give(Owner.DELEGATE, f"every read and write is in delegate {owner}{cast}")


def _parted(group: Together, node: Node) -> str:
    touches = "reads or writes it" if node in group.nodes else "is between its reads and writes"
    return f"{describe(node)} {touches}, outside any delegate"
