"""The index of ExecuTorch's in-memory file system: a JSON tree at the very end, written backwards.

Source of the facts: ExecuTorch's ``backends/apple/coreml/runtime/inmemoryfs``. The object has one
list, ``nodes``, children before their directory and the root last. A node has ``name``, ``kind``
(0 file, 1 directory), ``dataRegion`` (``offset`` and ``size``; zeros for a directory) and
``children`` (name -> index of an earlier node).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from pteron.errors import FormatError
from pteron.payloads.paths import MAX_DEPTH, check_name
from pteron.payloads.strict_json import LIMIT, count, mapping, parse_object, string

FILE, DIRECTORY = 0, 1


@dataclass
class Node:
    """A file or directory of the index; offsets are bytes from the payload's start."""

    name: str
    kind: int
    offset: int = 0
    size: int = 0
    children: dict[str, int] = field(default_factory=dict)


def split_index(payload: memoryview) -> tuple[list[Node], int]:
    """The nodes, and the offset at which the index begins (the files' bytes end before it).

    NUL bytes after the index are passed over: ExecuTorch leaves some after a model of over 1 GB.
    """
    tail = bytes(payload[-LIMIT:])[::-1]
    text = tail.lstrip(b"\0")
    try:  # Latin-1 maps bytes one to one, so that the end found here is a byte position
        _, end = json.JSONDecoder().raw_decode(text.decode("latin-1"))
    except (ValueError, RecursionError) as error:
        raise FormatError(f"no index of files at the payload's end: {error}") from error
    start = len(payload) - (len(tail) - len(text)) - end
    return parse_index(text[:end]), start


def parse_index(text: bytes) -> list[Node]:
    """The nodes of an index (the right way round). Raises FormatError for a wrong field."""
    nodes = parse_object(text, "index").get("nodes")
    if not isinstance(nodes, list) or not nodes:
        raise FormatError("no list of nodes", where="index.nodes")
    return [_node(value, f"index.nodes[{i}]") for i, value in enumerate(nodes)]


def _node(value: Any, where: str) -> Node:
    fields = mapping(value, where)
    region = mapping(fields.get("dataRegion", {}), f"{where}.dataRegion")
    children = mapping(fields.get("children", {}), f"{where}.children")
    kind = fields.get("kind")
    if kind not in (FILE, DIRECTORY):
        raise FormatError(f"neither a file nor a directory: {kind!r:.40}", where=f"{where}.kind")
    return Node(
        name=string(fields.get("name"), f"{where}.name"),
        kind=kind,
        offset=count(region.get("offset", 0), f"{where}.dataRegion.offset"),
        size=count(region.get("size", 0), f"{where}.dataRegion.size"),
        children={name: count(i, f"{where}.children") for name, i in children.items()},
    )


def node_paths(nodes: list[Node]) -> list[str]:
    """Every node's path beneath the root (which is the last node and has none).

    Raises FormatError unless the nodes are one tree of at most MAX_DEPTH levels with good names.
    """
    root = len(nodes) - 1
    if nodes[root].kind != DIRECTORY:
        raise FormatError("the root is not a directory", where=f"index.nodes[{root}]")
    found: dict[int, str] = {root: ""}
    queue = [(root, 0)]
    while queue:
        parent, depth = queue.pop()
        for name, child in nodes[parent].children.items():
            where = f"index.nodes[{parent}].children[{name!r:.80}]"
            if child >= parent or child in found:
                raise FormatError(f"node {child} comes later or has a parent", where=where)
            if nodes[child].name != check_name(name, where):
                raise FormatError(f"names node {nodes[child].name!r:.80}", where=where)
            if depth == MAX_DEPTH:
                raise FormatError(f"over {MAX_DEPTH} levels of directories", where=where)
            found[child] = f"{found[parent]}/{name}" if depth else name
            queue.append((child, depth + 1))
    for index in range(root):
        if index not in found:
            raise FormatError("is in no directory", where=f"index.nodes[{index}]")
    return [found[index] for index in range(len(nodes))]


def dump_index(nodes: list[Node]) -> bytes:
    """The index's bytes as they stand in a payload: compact JSON, sorted keys, backwards."""
    value = {
        "nodes": [
            {
                "name": node.name,
                "kind": node.kind,
                "dataRegion": {"offset": node.offset, "size": node.size},
                "children": node.children,
            }
            for node in nodes
        ]
    }
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return text.encode("utf-8")[::-1]
