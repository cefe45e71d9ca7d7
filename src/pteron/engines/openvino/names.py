"""Names of OpenVINO nodes: which operation of the program a node was made for.

The node that gives an operation's output is called like the output with a mark, nodes on the way
to it likewise with a dot. Inputs keep their names, and nodes that OpenVINO adds later have names
of its own.
"""

from __future__ import annotations

from typing import Any

_MARK = "@"  # no name in a MIL program has it


def name_nodes(output: Any, name: str) -> None:
    """Name the node of an operation's output, and the nameless ones that it is made of."""
    waiting = [output.get_node()]
    suffix = ""
    while waiting:
        node = waiting.pop()
        if _MARK in node.friendly_name or node.get_type_name() == "Parameter":
            continue
        node.friendly_name = f"{name}{_MARK}{suffix}"
        suffix = "."
        waiting += [value.get_node() for value in node.input_values()]


def op_of(node_name: str) -> str:
    """The operation's output that a node belongs to; empty for a node of OpenVINO's own."""
    op, mark, _ = node_name.partition(_MARK)
    return op if mark else ""
