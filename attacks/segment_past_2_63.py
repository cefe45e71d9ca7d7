"""A segment whose offset and size are 2 to the 63rd: their sum is zero in 64 bits."""

from __future__ import annotations

from hold import hold
from segments import program_with

from pteron.files import open as open_file

if __name__ == "__main__":
    data = program_with((0, 64), (1 << 63, 1 << 63))
    hold(
        lambda: open_file(data).segments,  # type: ignore[union-attr]
        "segments[1]: offset 9223372036854775",
    )
