"""Reads a mono 16-bit WAV file and cuts it into the chunks that Silero VAD takes."""

from __future__ import annotations

import wave
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

CHUNK = 512
RATE = 16000


def read(path: Path) -> NDArray[np.float32]:
    """Samples in -1..1; raises ValueError for anything but mono 16-bit at 16 kHz."""
    with wave.open(str(path)) as file:
        found = file.getnchannels(), file.getsampwidth(), file.getframerate()
        if found != (1, 2, RATE):
            raise ValueError(f"{path}: expected mono, 2 bytes, {RATE} Hz; it has {found}")
        frames = file.readframes(file.getnframes())
    return np.frombuffer(frames, "<i2").astype(np.float32) / 32768


def chunks(samples: NDArray[np.float32]) -> NDArray[np.float32]:
    """Whole chunks as ``[n, 1, 512]``; what is left at the end is dropped."""
    count = len(samples) // CHUNK
    return samples[: count * CHUNK].reshape(count, 1, CHUNK)
