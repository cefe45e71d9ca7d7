"""``python -m tests.fuzz.model_worker MODELS FIRST COUNT``: inputs one by one, in a process of its
own that a crash may end. A line of JSON is printed after each.
"""

from __future__ import annotations

import faulthandler
import json
import random
import resource
import sys
import time
import warnings
from pathlib import Path

from tests.fuzz.exercise_model import exercise_model
from tests.fuzz.model_files import saved
from tests.fuzz.mutate_model import mutate_model

_ADDRESSES = 16 << 30
"""Bytes of addresses for the whole process: an absurd allocation fails instead of succeeding."""


def main(directory: str, first: int, count: int) -> None:
    """Try ``count`` inputs, each made from its own number, so that it can be made again."""
    resource.setrlimit(resource.RLIMIT_AS, (_ADDRESSES, _ADDRESSES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    faulthandler.enable()
    warnings.simplefilter("ignore")
    models = saved(Path(directory))
    for number in range(first, first + count):
        files = mutate_model(models, random.Random(number))
        print(json.dumps(_tried(files)), flush=True)


def _tried(files: dict[str, bytes]) -> dict[str, object]:
    before, begun = _peak(), time.perf_counter()
    failure, compiled = "", False
    try:
        compiled = exercise_model(files)
    except Exception as error:
        failure = f"{type(error).__name__}: {error}"[:500]
    seconds = time.perf_counter() - begun
    return {
        "compiled": compiled,
        "failure": failure,
        "seconds": seconds,
        "bytes": _peak() - before,
    }


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
