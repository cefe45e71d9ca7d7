"""ExecuTorch's in-memory file system, the container of a Core ML payload.

The files' bytes lie one after the other; the index of files stands backwards at the very end, so
that it can be read from the tail (:mod:`pteron.payloads.coreml.memfs_index`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pteron.errors import FormatError, UsageError
from pteron.payloads.coreml.memfs_index import (
    DIRECTORY,
    FILE,
    Node,
    dump_index,
    node_paths,
    split_index,
)
from pteron.payloads.paths import check_path


@dataclass(frozen=True)
class FileImage:
    """A payload taken apart.

    Attributes:
        root: name of the root directory; ExecuTorch unpacks to a directory of that name.
        offsets: path -> byte offset in the payload, in stored order.
        files: path -> bytes, views of the payload, in stored order.
        index_offset: where the files end and the index of files begins.
    """

    root: str
    offsets: dict[str, int]
    files: dict[str, memoryview]
    index_offset: int


def read_image(payload: bytes | bytearray | memoryview) -> FileImage:
    """Take a payload apart without copying. Raises FormatError for whatever is wrong with it."""
    view = memoryview(payload).cast("B").toreadonly()
    nodes, index_offset = split_index(view)
    paths = node_paths(nodes)
    found = {path: node for path, node in zip(paths, nodes, strict=True) if node.kind == FILE}
    _check_regions(found, index_offset)
    return FileImage(
        root=nodes[-1].name,
        offsets={path: node.offset for path, node in found.items()},
        files={path: view[node.offset : node.offset + node.size] for path, node in found.items()},
        index_offset=index_offset,
    )


def unflatten(payload: bytes | bytearray | memoryview) -> dict[str, memoryview]:
    """Path -> bytes of every file in a payload, in stored order; see :func:`read_image`."""
    return read_image(payload).files


def flatten(
    files: Mapping[str, bytes | bytearray | memoryview], *, root: str = "model", alignment: int = 1
) -> bytes:
    """The payload that holds ``files`` (path -> bytes), in the mapping's order.

    Byte for byte what ExecuTorch's ``flatten_directory_contents`` makes of a directory ``root``
    whose entries come in that order, when ``alignment`` (of each file's start, in bytes) is 1.
    Raises UsageError when one path is both a file and a directory, FormatError for a bad path.
    """
    nodes, blobs = _Layout(alignment).lay_out(_tree(files), root)
    return b"".join([*blobs, dump_index(nodes)])


def _check_regions(files: Mapping[str, Node], end: int) -> None:
    taken, owner = 0, ""
    for path, node in sorted(files.items(), key=lambda item: (item[1].offset, item[1].size)):
        if node.offset + node.size > end:
            raise FormatError(
                f"offset {node.offset} + size {node.size} is past the files' end ({end})",
                where=path,
            )
        if node.size and node.offset < taken:
            raise FormatError(f"shares bytes with {owner}", where=path, offset=node.offset)
        if node.size:
            taken, owner = node.offset + node.size, path


_Tree = dict[str, "memoryview | _Tree"]


def _tree(files: Mapping[str, bytes | bytearray | memoryview]) -> _Tree:
    tree: _Tree = {}
    for path, data in files.items():
        *folders, name = check_path(path, "path")
        here = tree
        for folder in folders:
            inner = here.setdefault(folder, {})
            if isinstance(inner, memoryview):
                raise UsageError(f"{path}: {folder!r} is a file and a directory")
            here = inner
        if name in here:
            raise UsageError(f"{path}: is a file and a directory")
        here[name] = memoryview(data).cast("B")
    return tree


class _Layout:
    """Gives nodes their indices and files their places, children before their directory."""

    def __init__(self, alignment: int) -> None:
        self.alignment = alignment
        self.nodes: list[Node] = []
        self.blobs: list[bytes | memoryview] = []
        self.end = 0

    def lay_out(self, tree: _Tree, root: str) -> tuple[list[Node], list[bytes | memoryview]]:
        self._directory(root, tree)
        self._pad()
        return self.nodes, self.blobs

    def _directory(self, name: str, tree: _Tree) -> int:
        children = {
            child: self._file(child, inner)
            if isinstance(inner, memoryview)
            else self._directory(child, inner)
            for child, inner in tree.items()
        }
        return self._add(Node(name, DIRECTORY, children=children))

    def _file(self, name: str, data: memoryview) -> int:
        self._pad()
        node = Node(name, FILE, offset=self.end, size=len(data))
        self.blobs.append(data)
        self.end += len(data)
        return self._add(node)

    def _add(self, node: Node) -> int:
        self.nodes.append(node)
        return len(self.nodes) - 1

    def _pad(self) -> None:
        gap = -self.end % self.alignment
        self.blobs.append(bytes(gap))
        self.end += gap
