"""From speech probabilities per chunk to stretches of speech in seconds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

CHUNK_SECONDS = 512 / 16000
START, STOP = 0.5, 0.35
"""Speech starts at the first probability and ends below the second (hysteresis)."""
SHORTEST_SPEECH = 8
"""Chunks (256 ms) that a stretch of speech lasts at least."""
LONGEST_PAUSE = 3
"""Chunks (96 ms) of silence that do not yet end a stretch."""


def speech_segments(probabilities: Sequence[float]) -> list[list[float]]:
    """Stretches of speech as [start, end] in seconds, in order."""
    return [
        [round(start * CHUNK_SECONDS, 3), round(end * CHUNK_SECONDS, 3)]
        for start, end in _joined(_runs(probabilities))
        if end - start >= SHORTEST_SPEECH
    ]


def _runs(probabilities: Sequence[float]) -> Iterator[tuple[int, int]]:
    """(first chunk, chunk after the last) of every run that the hysteresis finds."""
    start: int | None = None
    for index, probability in enumerate(probabilities):
        if start is None and probability >= START:
            start = index
        elif start is not None and probability < STOP:
            yield start, index
            start = None
    if start is not None:
        yield start, len(probabilities)


def _joined(runs: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Runs with the short pauses between them closed."""
    current: tuple[int, int] | None = None
    for start, end in runs:
        if current is not None and start - current[1] <= LONGEST_PAUSE:
            current = current[0], end
            continue
        if current is not None:
            yield current
        current = start, end
    if current is not None:
        yield current
