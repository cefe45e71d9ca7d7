"""Pages of mapped payloads are given back, and nothing that anyone wrote is lost."""

from __future__ import annotations

import mmap
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from pteron.payloads.resident import give_back
from pteron.payloads.sources import FilesSource, map_directory

SIZE = 1 << 20


def resident(view: memoryview) -> int:
    """Bytes of the map that are in this process's memory."""
    address = np.frombuffer(view, np.uint8).ctypes.data
    inside = False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        if limits := re.match(r"([0-9a-f]+)-([0-9a-f]+) ", line):
            inside = int(limits[1], 16) <= address < int(limits[2], 16)
        elif inside and line.startswith("Rss:"):
            return int(line.split()[1]) * 1024
    raise AssertionError("no such map")


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_pages_are_given_back_and_can_be_read_again(tmp_path: Path) -> None:
    content = bytes(range(256)) * (SIZE // 256)
    (tmp_path / "weights").write_bytes(content)
    source = FilesSource("X", map_directory(tmp_path, "p"))
    view = source.read("p/weights")
    assert bytes(view) == content
    assert resident(view) == SIZE
    give_back(source)
    assert resident(view) == 0
    assert bytes(view) == content


def test_what_was_written_to_a_private_map_stays(tmp_path: Path) -> None:
    path = tmp_path / "weights"
    path.write_bytes(bytes(SIZE))
    with path.open("rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    mapped[:4] = b"mine"
    give_back(FilesSource("X", {"w": memoryview(mapped).toreadonly()}))
    assert mapped[:4] == b"mine"


def test_other_buffers_are_left_alone() -> None:
    source = FilesSource("X", {"a": memoryview(b"abc"), "b": memoryview(bytearray(b"def"))})
    give_back(source)
    assert [bytes(source.read(path)) for path in source.paths()] == [b"abc", b"def"]
