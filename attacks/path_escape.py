"""A Core ML payload whose file names leave the directory it is extracted to."""

from __future__ import annotations

from hold import hold

from pteron.payloads.coreml.memfs import flatten, unflatten


def escaping() -> bytes:
    payload = flatten({"xx/passwd": b"root::0:0::/:"})
    index = payload[::-1]  # the index stands backwards at the end
    assert index.count(b'"xx"') >= 1
    return index.replace(b'"xx"', b'".."')[::-1]


if __name__ == "__main__":
    hold(lambda: unflatten(escaping()), "..")
