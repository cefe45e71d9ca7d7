"""Two thousand segments that all hold the same bytes but one: rewriting would multiply the file."""

from __future__ import annotations

from hold import hold
from segments import program_with

from pteron.files import PTEFile
from pteron.files import open as open_file


def attack() -> None:
    file = open_file(program_with(*((i, 1 << 20) for i in range(2000)), room=(1 << 20) + 2000))
    assert isinstance(file, PTEFile)
    file.program.version += 1
    file.to_bytes()


if __name__ == "__main__":
    hold(attack, "overlap: cannot be rewritten")
