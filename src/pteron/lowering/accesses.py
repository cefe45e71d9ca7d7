"""Every operation of an exported graph that reads or writes a tensor, also through views."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from pteron.lowering.source import op_name, source_line
from pteron.lowering.subgraphs import nested

if TYPE_CHECKING:
    from torch.export import ExportedProgram
    from torch.fx import Node


@dataclass(frozen=True)
class Access:
    """One operation that reads or writes a buffer, with its line in the user's model."""

    method: str
    op: str
    line: str

    def __str__(self) -> str:
        return f"{self.op} at {self.line}" if self.line else self.op


class Use(Enum):
    """What an operation does with a tensor that it is given."""

    READ = "read"
    WRITE = "write"
    UPDATE = "update"
    """Reads the old value and writes a new one."""
    VIEW = "view"
    """Gives the same memory under another shape."""


OVERWRITES = (
    *("copy_", "fill_", "zero_", "set_", "uniform_", "normal_", "bernoulli_", "scatter_"),
    *("index_copy_", "index_fill_", "index_put_", "masked_fill_", "masked_scatter_"),
)
"""Operators whose result has nothing of the old value where they write."""


@dataclass(frozen=True)
class Accesses:
    """The reads and the writes of one tensor, each in graph order."""

    reads: tuple[Access, ...]
    writes: tuple[Access, ...]


def accesses(method: str, program: ExportedProgram) -> dict[str, Accesses]:
    """The accesses of every tensor of the model, by the name of its placeholder."""
    nodes = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
    found = {}
    for spec in program.graph_signature.input_specs:
        if spec.target is not None:
            found[spec.arg.name] = _accesses(method, nodes[spec.arg.name])
    return found


def _accesses(method: str, placeholder: Node) -> Accesses:
    uses = list(_uses(placeholder))
    reads = (node for node, use in uses if use in (Use.READ, Use.UPDATE))
    writes = (node for node, use in uses if use in (Use.WRITE, Use.UPDATE))
    return Accesses(
        tuple(access(method, node) for node in dict.fromkeys(reads)),
        tuple(access(method, node) for node in dict.fromkeys(writes)),
    )


def is_written(placeholder: Node) -> bool:
    """Whether a graph writes what it is given for a placeholder."""
    return any(use in (Use.WRITE, Use.UPDATE) for _, use in _uses(placeholder))


def access(method: str, node: Node) -> Access:
    """What a report says of one operation."""
    name = str(node.target) if node.op == "call_function" else f"input {node.name}"
    return Access(method, name if "." in name else op_name(node), _line(node))


def _line(node: Node) -> str:
    """Its own line; of a write that was made for an assignment, that of the value assigned."""
    line = source_line(node)
    values = [source for source in node.all_input_nodes[1:] if source.op == "call_function"]
    return line or next((source_line(value) for value in values if source_line(value)), "")


def _uses(node: Node) -> list[tuple[Node, Use]]:
    """Operations on a tensor and on its views, in graph order, those in branches too."""
    aliases = [node]
    found: dict[Node, list[tuple[Node, Use]]] = {}
    for alias in aliases:  # grows meanwhile
        for user in alias.users:
            uses = list(_uses_by(user, alias)) if user.op == "call_function" else []
            found.setdefault(user, []).extend(use for use in uses if use[1] is not Use.VIEW)
            if user not in aliases and any(u is user and _is_alias(use) for u, use in uses):
                aliases.append(user)
    return [use for user in sorted(found) for use in found[user]]


def _is_alias(use: Use) -> bool:
    return use is not Use.READ


def _uses_by(user: Node, source: Node) -> Iterator[tuple[Node, Use]]:
    parts = nested(user)
    for part in parts:
        for inner, operand in zip(part.placeholders, part.operands, strict=True):
            if operand is source:
                yield from _uses(inner)
    if not parts or user.args[0] is source:  # what a branch depends on
        yield user, Use.VIEW if user.target is operator.getitem else _use(user, source)


def _use(user: Node, source: Node) -> Use:
    schema = getattr(user.target, "_schema", None)
    if schema is None:
        return Use.READ
    values = dict(zip((a.name for a in schema.arguments), user.args, strict=False)) | user.kwargs
    for argument in schema.arguments:
        if not _holds(values.get(argument.name), source) or argument.alias_info is None:
            continue
        if not argument.alias_info.is_write:
            return Use.VIEW
        return Use.WRITE if _overwrites(schema.name, values) else Use.UPDATE
    return Use.READ


def _overwrites(name: str, values: dict[str, Any]) -> bool:
    return name.partition("::")[2] in OVERWRITES and not values.get("accumulate")


def _holds(value: Any, source: Node) -> bool:
    return value is source or (isinstance(value, (list, tuple)) and source in value)
