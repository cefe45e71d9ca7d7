"""The state plan: who owns each buffer, and why."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from enum import Enum
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from pteron.errors import LoweringError, UsageError
from pteron.lowering.accesses import Access, Accesses, access, accesses
from pteron.lowering.first_values import in_words
from pteron.lowering.partition import Partition, Together
from pteron.lowering.region import mutations, tensor_of
from pteron.lowering.source import describe
from pteron.suggestions import meant

if TYPE_CHECKING:
    from torch.export import ExportedProgram
    from torch.fx import Node

    from pteron.lowering.capture import Exported
    from pteron.lowering.options import CoreML

TakeOver = bool | Collection[str] | Callable[[str], bool]
"""Which buffers may become delegate state: all, none, names or globs, or a question per name."""

STATE_DTYPE = "float16"
"""The only dtype of Core ML state (iOS 18)."""
STATE_MAX_RANK = 5
"""Most dimensions of a Core ML tensor."""


_SCATTERS = ("index_copy", "index_put", "scatter")
_WRITE_A_SLICE = (
    "; for consecutive rows, write a slice, `cache[:, :, start : start + n] = rows`, instead"
)


class Owner(Enum):
    """Who holds a buffer's value between calls."""

    DELEGATE = "delegate"
    PROGRAM = "program"
    CONSTANT = "constant"


@dataclass
class BufferRecord:
    """All that lowering knows and decides about one buffer.

    Attributes:
        name: its ``named_buffers()`` name (or that of the parameter or constant).
        kind: ``buffer``, ``parameter`` or ``constant``.
        dtype, shape: of the model's own tensor.
        persistent: whether it is part of the model's state dict.
        zero: whether its first value is zero everywhere.
        first: its first value in words.
        reads, writes: the operations that touch it, also through views of it.
        aliases: other names of the same tensor.
        partitions: where those operations run, as in ``forward: delegate 0, program``.
        owner: who holds it; ``None`` until decided.
        delegate: index of the owning delegate, if a delegate owns it.
        stored_dtype: dtype in the delegate's state, if a delegate owns it.
        reason: one sentence why ``owner`` is the owner.
        cause: the operation that kept it from a delegate, if it was one.
    """

    name: str
    kind: str
    dtype: str
    shape: tuple[int, ...]
    persistent: bool
    zero: bool
    first: str
    reads: list[Access] = field(default_factory=list)
    writes: list[Access] = field(default_factory=list)
    aliases: list[str] = field(default_factory=list)
    partitions: list[str] = field(default_factory=list)
    owner: Owner | None = None
    delegate: int | None = None
    stored_dtype: str | None = None
    reason: str = ""
    cause: Access | None = None

    def accesses(self) -> list[Access]:
        """Writes, then reads."""
        return [*self.writes, *self.reads]

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
            first.partitions += second.partitions
            buffers[name] = first
        return cls(buffers)


def survey(method: str, program: ExportedProgram, exported: Exported) -> StatePlan:
    """Record every buffer, and every other tensor of the model that the method writes.

    ``exported`` is what ``program`` was decomposed from.
    """
    import torch
    from torch.export.graph_signature import InputKind

    kinds = {
        InputKind.BUFFER: "buffer",
        InputKind.PARAMETER: "parameter",
        InputKind.CONSTANT_TENSOR: "constant",
    }
    written, known = mutations(program), accesses(method, exported.program)
    plan: dict[str, BufferRecord] = {}
    for spec in program.graph_signature.input_specs:
        kind, name = kinds.get(spec.kind), str(spec.target)
        if kind is None or (kind != "buffer" and name not in written):
            continue
        tensor = tensor_of(program, name)
        touched = known.get(spec.arg.name, Accesses((), ()))
        record = plan[name] = BufferRecord(
            name=name,
            kind=kind,
            dtype=str(tensor.dtype).removeprefix("torch."),
            shape=tuple(tensor.shape),
            persistent=bool(spec.persistent),
            zero=not bool(torch.count_nonzero(tensor)),
            first=in_words(tensor),
            reads=list(touched.reads),
            writes=list(touched.writes or _last_write(method, program, spec.arg.name, name)),
            aliases=list(exported.aliases.get(name, ())),
        )
        if name not in written:
            record.give(Owner.CONSTANT, "never written")
    return StatePlan(plan)


def _last_write(method: str, program: ExportedProgram, placeholder: str, name: str) -> list[Access]:
    """The write of a program that came without writes in place, only with last values."""
    final = mutations(program).get(name, placeholder)
    if final == placeholder:  # never written, or only by other methods
        return []
    (node,) = (node for node in program.graph.nodes if node.name == final)
    return [access(method, node)]


def keep_from_delegates(
    plan: StatePlan, backend: CoreML | None, take_over: TakeOver, on_inexact: str
) -> None:
    """Give the program every buffer that no delegate may or can own.

    Raises :class:`LoweringError` for an inexact hand-over if ``on_inexact`` is ``"error"``.
    """
    wanted = chosen(take_over)
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


def chosen(take_over: TakeOver) -> Callable[[str], bool]:
    """The choice as a question per name."""
    if isinstance(take_over, bool):
        return lambda _: take_over
    if callable(take_over):
        return take_over
    patterns = _patterns(take_over)
    return lambda name: any(fnmatchcase(name, pattern) for pattern in patterns)


def _patterns(take_over: str | Collection[str]) -> list[str]:
    return [take_over] if isinstance(take_over, str) else list(take_over)


def require_matches(
    take_over: TakeOver, mutable: Collection[str], argument: str = "take_over_mutable_buffers"
) -> None:
    """Raise :class:`UsageError` for a name or glob of ``argument`` that is none of ``mutable``."""
    if isinstance(take_over, bool) or callable(take_over):
        return
    for pattern in _patterns(take_over):
        if not any(fnmatchcase(name, pattern) for name in mutable):
            known = f"they are {', '.join(sorted(mutable))}" if mutable else "the model has none"
            raise UsageError(
                f"{argument}: {pattern!r} matches no mutable buffer"
                f"{meant(pattern, mutable)}; {known}"
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


def settle(plan: StatePlan, method: str, sets: Sequence[Together], division: Partition) -> None:
    """Give each buffer to the one region that does all its reads and writes.

    What no single region covers goes to the program, with the operation that stands outside.
    """
    home = {node: index for index, region in enumerate(division.regions) for node in region}
    for group in sets:
        record = plan.buffers[group.name]
        homes = {home.get(node) for node in group.nodes}
        owner = homes.pop() if homes else None
        if group.name in division.parted:
            node = division.parted[group.name]
            record.cause = access(method, node)
            record.give(Owner.PROGRAM, _parted(group, node))
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
    return f"{describe(node)} {touches}, outside any delegate{_hint(node)}"


def _hint(node: Node) -> str:
    """How else to write rows that coremltools does not scatter, mostly as their number varies."""
    name = str(node.target).removeprefix("aten.").partition(".")[0]
    return _WRITE_A_SLICE if name in _SCATTERS else ""


def locate(plan: StatePlan, method: str, program: ExportedProgram, division: Partition) -> None:
    """Note for each buffer where the operations on it run."""
    home = {node: index for index, region in enumerate(division.regions) for node in region}
    nodes = {node.name: node for node in program.graph.nodes}
    written = mutations(program)
    for spec in program.graph_signature.input_specs:
        if spec.target not in plan.buffers:
            continue
        uses = {*nodes[spec.arg.name].users, nodes[written.get(spec.target, spec.arg.name)]}
        found = {home.get(node) for node in uses if node.op == "call_function"}
        names = [f"delegate {index}" for index in sorted(i for i in found if i is not None)]
        names += ["program"] if None in found else []
        if names:
            plan.buffers[spec.target].partitions.append(f"{method}: {', '.join(names)}")
