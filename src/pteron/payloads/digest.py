"""The digest that names a payload in a cache.

A compiled-model cache is shared: by the programs of a user, by machines of a fleet. If two payloads
could be made to have the same digest, one of them could get the other's compiled model. So the
digest must resist an author who tries, which rules out xxHash and its like. BLAKE3 does (256 bits
here) and takes about twice xxHash's time on a payload in memory, a quarter of SHA-256's
(``benchmarks/payload_digest.py``).
"""

from __future__ import annotations

from collections.abc import Mapping

_DOMAIN = b"pteron payload 1\0"


def digest_files(backend_id: str, files: Mapping[str, memoryview]) -> str:
    """Hex digest (64 digits) of a backend's name and a tree of files, whatever their order.

    Every string and every file is preceded by its length, so no two trees give the same stream.
    """
    from blake3 import blake3

    state = blake3(_DOMAIN)

    def add(data: bytes | memoryview) -> None:
        state.update(len(data).to_bytes(8, "little"))
        state.update(data)

    add(backend_id.encode())
    for path in sorted(files):
        add(path.encode())
        add(files[path])
    return state.hexdigest()
