"""Kills processes that work on a cache, at random moments, and checks what they leave.

Run by itself: ``python -m tests.cache.crash --kills 5000 [--seed N]``. A child stores, replaces,
finds, removes, evicts and purges without end until it is killed with SIGKILL; a fresh child then
checks that every entry that can be found is whole and right, and that the directory heals.
"""

from __future__ import annotations

import argparse
import itertools
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from pteron.cache import CacheKey, DirectoryCache
from pteron.cache.evict import Limits
from tests.cache.processes import exit_code, fast_directory, in_child

NAMES = [f"entry-{number}" for number in range(6)]
KEYS = [CacheKey(f"payload-{number}", "engine", "1") for number in range(3)]
ANCHOR = "anchor"
QUOTA = 200_000


def content(name: str, version: int) -> dict[str, bytes]:
    """Files that tell, each by itself, which version of which entry they belong to."""
    chance = random.Random(f"{name} {version}")
    return {
        "version": f"{name} {version}".encode(),
        "model.bin": chance.randbytes(chance.randrange(1, 60_000)),
        "parts/deep.bin": chance.randbytes(chance.randrange(1, 9_000)),
    }


def write(directory: Path, name: str, version: int) -> None:
    """Leave that content in a directory."""
    (directory / "parts").mkdir(parents=True)
    for path, data in content(name, version).items():
        (directory / path).write_bytes(data)


def store(cache: DirectoryCache, name: str, version: int) -> None:
    """Put a version of an entry into a cache."""
    with cache.temporary_directory() as temporary:
        write(temporary / "model", name, version)
        cache.store(name, temporary / "model").close()


def check_content(directory: Path, name: str) -> None:
    """Raise unless the directory holds one version of that entry, whole, and nothing else."""
    owner, version = (directory / "version").read_text().split()
    expected = content(name, int(version))
    found = {
        path.relative_to(directory).as_posix(): path.read_bytes()
        for path in directory.rglob("*")
        if path.is_file()
    }
    assert owner == name and found == expected, f"{name} version {version} is torn"


def work(root: Path, seed: int) -> None:
    """Use two caches without end: one for everything, one where an entry is only ever replaced."""
    chance = random.Random(seed)
    cache = DirectoryCache(root / "cache", max_bytes=QUOTA)
    steady = DirectoryCache(root / "steady")

    def version() -> int:
        return chance.randrange(1 << 30)

    def compile_one() -> None:
        key = chance.choice(KEYS)
        cache.get_or_compile(key, lambda path: write(path, key.identifier, version())).close()

    def find() -> None:
        entry = cache.find(chance.choice(NAMES))
        if entry:
            entry.close()

    steps: list[tuple[int, Callable[[], object]]] = [
        (8, lambda: store(cache, chance.choice(NAMES), version())),
        (8, lambda: store(steady, ANCHOR, version())),
        (4, compile_one),
        (4, find),
        (2, lambda: cache.remove(chance.choice(NAMES))),
        (1, cache.evict),
        (1, cache.purge),
    ]
    weights = [weight for weight, _ in steps]
    while True:
        chance.choices(steps, weights)[0][1]()


def check(root: Path) -> None:
    """Raise unless both caches are whole, and clean once they have been swept."""
    cache = DirectoryCache(root / "cache", max_bytes=QUOTA)
    steady = DirectoryCache(root / "steady")
    for name in [*NAMES, *(key.identifier for key in KEYS)]:
        check_entry(cache, name)
    assert check_entry(steady, ANCHOR), "the entry that is only ever replaced was lost"
    for each in (cache, steady):
        check_clean(each)


def check_entry(cache: DirectoryCache, name: str) -> bool:
    """Whether there is such an entry. Raises if it is not whole."""
    entry = cache.find(name)
    if entry is None:
        return False
    with entry:
        assert entry.damage() is None
        check_content(entry.path, name)
    return True


def check_clean(cache: DirectoryCache) -> None:
    """Raise if a broken entry was seen, or anything but entries is left."""
    assert cache.statistics().recoveries == 0, "an entry was broken"
    listed = cache.entries()
    generations = {entry.generation for entry in listed}
    size = sum(entry.manifest.size for entry in listed if entry.manifest)
    assert cache.limits.max_bytes != QUOTA or size <= QUOTA, "the quota is exceeded"
    assert {path.name for path in (cache.path / "models").iterdir()} == generations
    for place in ("temp", "compiling"):
        assert not list((cache.path / place).iterdir()), f"{place} is not empty"


def crash(root: Path, kills: int, seed: int, workers: int = 2) -> None:
    """Kill ``kills`` processes, of which ``workers`` work at a time; raises at the first fault."""
    chance = random.Random(seed)
    store(DirectoryCache(root / "steady"), ANCHOR, 0)
    done = 0
    while done < kills:
        seeds = [chance.randrange(1 << 30) for _ in range(min(workers, kills - done))]
        children = [in_child(partial(work, root, one)) for one in seeds]
        for child in children:
            time.sleep(chance.uniform(0, 0.04))
            os.kill(child, signal.SIGKILL)
            status = exit_code(child)
            assert status == -signal.SIGKILL, f"a worker failed by itself ({status})"
        done += len(children)
        assert exit_code(in_child(partial(check, root))) == 0, f"after {done} kills, seed {seed}"


OPERATIONS: dict[str, Callable[[DirectoryCache], object]] = {
    "store": lambda cache: store(cache, NAMES[0], 1),
    "replace": lambda cache: store(cache, ANCHOR, 2),
    "remove": lambda cache: cache.remove(NAMES[1]),
    "find": lambda cache: cache.find(NAMES[1]),
    "evict": lambda cache: cache.evict(Limits(max_bytes=0)),
    "purge": lambda cache: cache.purge(),
}


def kill_at_every_step(root: Path) -> int:
    """Kill each operation before each of its system calls in turn; returns how many kills."""
    made = _kill_while_made(root)
    return made + sum(_kill_at_every_step(root, name) for name in OPERATIONS)


def _kill_while_made(root: Path) -> int:
    for step in itertools.count():
        cache = DirectoryCache(root / f"make-{step}")
        killed = exit_code(in_child(partial(killed_at, step, lambda new: new.find("a"), cache)))
        store(cache, ANCHOR, 1)
        check_one(cache.path, survives=True)
        if killed == 0:
            return step
        assert killed == -signal.SIGKILL, "making the directory failed by itself"
    raise AssertionError("unreachable")


def _kill_at_every_step(root: Path, name: str) -> int:
    for step in itertools.count():
        cache = DirectoryCache(root / f"{name}-{step}")
        store(cache, ANCHOR, 1)
        store(cache, NAMES[1], 1)
        killed = exit_code(in_child(partial(killed_at, step, OPERATIONS[name], cache)))
        survives = name not in ("evict", "purge")
        fine = exit_code(in_child(partial(check_one, cache.path, survives))) == 0
        assert fine, f"{name} was killed before its system call {step}"
        shutil.rmtree(cache.path)
        if killed == 0:
            return step
        assert killed == -signal.SIGKILL, f"{name} failed by itself"
    raise AssertionError("unreachable")


def killed_at(
    step: int, operation: Callable[[DirectoryCache], object], cache: DirectoryCache
) -> None:
    """Run the operation, but die before a system call of it; the first is number 0."""
    remaining = step

    def audit(event: str, _: object) -> None:
        nonlocal remaining
        if event == "open" or event.startswith(("os.", "fcntl.", "shutil.")):
            remaining -= 1
            if remaining == -1:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(audit)
    operation(cache)


def check_one(path: Path, survives: bool) -> None:
    """Raise unless the cache is whole and clean, and the anchor in it if nobody removed it."""
    cache = DirectoryCache(path)
    found = check_entry(cache, ANCHOR)
    assert found or not survives, "an entry was lost"
    for name in NAMES[:2]:
        check_entry(cache, name)
    check_clean(cache)


def main() -> None:
    """Crash as often as the command line says, and tell."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 30))
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}", flush=True)
    root = Path(tempfile.mkdtemp(prefix="pteron-crash-", dir=fast_directory()))
    try:
        steps = kill_at_every_step(root / "steps")
        print(f"{steps} kills, one before each system call of each operation: every entry whole")
        started = time.monotonic()
        crash(root, arguments.kills, arguments.seed)
        seconds = time.monotonic() - started
        print(DirectoryCache(root / "cache").statistics())
        print(f"{arguments.kills} kills at random, {seconds:.0f} s: every entry whole")
    finally:
        shutil.rmtree(root)


if __name__ == "__main__":
    main()
