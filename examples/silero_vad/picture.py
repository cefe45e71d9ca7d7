"""The recording's waveform with the speech probability over it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib
import numpy as np
from numpy.typing import NDArray

matplotlib.use("Agg")
from matplotlib import pyplot


def draw(
    path: Path,
    samples: NDArray[np.float32],
    rate: int,
    probabilities: Sequence[float],
    segments: Sequence[Sequence[float]],
) -> None:
    """Write a PNG: waveform above, probability below, stretches of speech shaded in both."""
    figure, (wave, speech) = pyplot.subplots(2, 1, figsize=(12, 5), sharex=True)
    wave.plot(np.arange(len(samples)) / rate, samples, linewidth=0.3, color="0.35")
    wave.set_ylabel("amplitude")
    speech.plot(np.arange(len(probabilities)) * 512 / rate, probabilities, color="C0")
    speech.set_ylabel("speech probability")
    speech.set_xlabel("seconds")
    speech.set_ylim(-0.02, 1.02)
    for axis in (wave, speech):
        for start, end in segments:
            axis.axvspan(start, end, color="C1", alpha=0.2, linewidth=0)
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
