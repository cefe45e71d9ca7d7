"""The main job, end to end: lower Silero VAD, look at the file, stream a recording through it.

Run it with ``make demo``. It leaves the program, a picture and a summary in ``build/demo``.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

import pteron
from examples.silero_vad import data, picture, recording
from examples.silero_vad.segments import speech_segments
from pteron.runtime import Module

OUT = Path("build/demo")
PROGRAM = OUT / "silero_vad.pte"
CACHE = OUT / "cache"


def main() -> None:
    """Do every step, print what happens, write ``summary.json`` and ``speech.png``."""
    OUT.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(CACHE, ignore_errors=True)
    shell("lower", "examples/silero_vad/model.py:build", "-o", str(PROGRAM))
    shell("inspect", str(PROGRAM))

    samples = recording.read(data.speech_wav())
    chunks = recording.chunks(samples)
    cold, cold_seconds = timed_load()
    probabilities, seconds = stream(cold, chunks)
    warm, hit_seconds = timed_load()
    again, _ = stream(warm, chunks)
    if not np.array_equal(probabilities, again):
        raise SystemExit("a cache hit changed the answer")

    expected = reference(chunks)
    difference = np.abs(probabilities - expected)
    summary = {
        "chunks": len(chunks),
        "real_time_factor": seconds / (len(chunks) * recording.CHUNK / recording.RATE),
        "max_abs_diff": float(difference.max()),
        "mean_abs_diff": float(difference.mean()),
        "segments": speech_segments(probabilities.tolist()),
        "reference_segments": speech_segments(expected.tolist()),
        "states": {name: entry.owner for name, entry in cold.state.items()},
        "cold_load_seconds": cold_seconds,
        "hit_load_seconds": hit_seconds,
        "cache_hits": count(warm, True) + count(cold, True),
        "cache_misses": count(warm, False) + count(cold, False),
        "file_bytes": PROGRAM.stat().st_size,
    }
    (OUT / "summary.json").write_text(json.dumps(summary, indent=2) + "\n")
    picture.draw(
        OUT / "speech.png", samples, recording.RATE, probabilities.tolist(), summary["segments"]
    )
    report(summary)


def shell(*arguments: str) -> None:
    """Run a pteron command as a user would, showing it first."""
    print(f"\n$ pteron {' '.join(arguments)}", flush=True)
    subprocess.run([sys.executable, "-m", "pteron", *arguments], check=True)


def timed_load() -> tuple[Module, float]:
    """Load the program through the demo's own cache; seconds without the imports."""
    from pteron.engines import select

    cache = pteron.cache.DirectoryCache(CACHE)
    select("CoreMLBackend").device_features()  # imports the engine
    started = perf_counter()
    module = pteron.load(PROGRAM, cache=cache)
    return module, perf_counter() - started


def stream(module: Module, chunks: NDArray[np.float32]) -> tuple[NDArray[Any], float]:
    """Speech probability of every chunk in turn, and the seconds it took."""
    started = perf_counter()
    outputs = [module.forward(chunk)[0] for chunk in chunks]
    return np.array(outputs, np.float32).reshape(-1), perf_counter() - started


def reference(chunks: NDArray[np.float32]) -> NDArray[Any]:
    """The original TorchScript model's probabilities on the same chunks."""
    original = torch.jit.load(data.silero_jit(), map_location="cpu")
    original.reset_states()
    with torch.no_grad():
        outputs = [original(torch.from_numpy(chunk.copy()), recording.RATE) for chunk in chunks]
    return torch.cat(outputs).numpy().reshape(-1)


def count(module: Module, hit: bool) -> int:
    """How many of a module's payloads came from the cache, or did not."""
    return sum(record.cache_hit is hit for record in module.load_records)


def report(summary: dict[str, Any]) -> None:
    """What a person wants to know, on a few lines."""
    print(f"\nspeech ({len(summary['segments'])} stretches):")
    for start, end in summary["segments"]:
        print(f"  {start:6.2f} s to {end:6.2f} s")
    print(
        f"{summary['chunks']} chunks at {summary['real_time_factor']:.4f} of real time; "
        f"largest difference to the original {summary['max_abs_diff']:.4f}; "
        f"load {summary['cold_load_seconds']:.2f} s cold, {summary['hit_load_seconds']:.2f} s hit"
    )
    print(f"written: {PROGRAM}, {OUT / 'speech.png'}, {OUT / 'summary.json'}")


if __name__ == "__main__":
    main()
