"""A bundle in a bundle in a bundle, two thousand deep."""

from __future__ import annotations

from hold import hold

from pteron.files import open as open_file
from pteron.flatbuf import encode
from pteron.schema.bundled import IDENTIFIER, BundledProgram


def nested(depth: int = 2000) -> bytes:
    data = b""
    for _ in range(depth):
        data = b"".join(encode(BundledProgram(program=data), IDENTIFIER).pieces)
    return data


if __name__ == "__main__":
    data = nested()
    hold(
        lambda: open_file(data).pte,  # type: ignore[union-attr]
        "program: is not a program (ET12)",
    )
