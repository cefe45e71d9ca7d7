"""Many processes ask for the same cold key at once: ``python -m tests.cache.stampede DIR [kill]``.

With ``kill`` the first compile dies half-way, by SIGKILL. Each compile that ends notes its process
in ``DIR/compiled``.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from functools import partial
from pathlib import Path

from pteron.cache import CacheKey, DirectoryCache
from tests.cache.processes import exit_code, in_child

KEY = CacheKey("payload", "engine", "1")
CONTENT = b"compiled" * 1000


def compile(root: Path, kill: bool, directory: Path) -> None:
    """Take a while; die half-way if this is the first of all and it is asked to."""
    (directory / "half.bin").write_bytes(CONTENT)
    time.sleep(0.2)
    if kill:
        try:
            (root / "victim").touch(exist_ok=False)
        except FileExistsError:
            pass
        else:
            os.kill(os.getpid(), signal.SIGKILL)
    (directory / "model.bin").write_bytes(CONTENT)
    with (root / "compiled").open("a") as file:
        file.write(f"{os.getpid()}\n")


def ask(root: Path, start: float, kill: bool) -> None:
    """One of many: waits for the start, asks, and checks what it gets."""
    time.sleep(max(0.0, start - time.monotonic()))
    cache = DirectoryCache(root / "cache")
    with cache.get_or_compile(KEY, partial(compile, root, kill)) as entry:
        assert (entry.path / "model.bin").read_bytes() == CONTENT
        assert entry.damage() is None


def main(root: Path, kill: bool, processes: int = 32) -> None:
    """Let them all ask at once, and print how each ended."""
    start = time.monotonic() + 0.2
    children = [in_child(partial(ask, root, start, kill)) for _ in range(processes)]
    print(*sorted(map(exit_code, children)))


if __name__ == "__main__":
    main(Path(sys.argv[1]), "kill" in sys.argv)
