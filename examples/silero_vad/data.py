"""The data of this example, parts of two published wheels."""

from __future__ import annotations

from pathlib import Path

from examples.wheel_file import WheelFile

SILERO_JIT = WheelFile(
    "silero-vad==6.2.3",
    "7b7f5436cfcb02fae583a05b512ea96467fd449fe54cb49a5e4f06c51a1e43b8",
    "silero_vad/data/silero_vad.jit",
)
SPEECH_WAV = WheelFile(
    "pyannote.audio==4.0.7",
    "852ea15c4d85bc34773e618267603ffca6a521669a74d33742692cc67fc700d6",
    "pyannote/audio/sample/sample.wav",
)


def silero_jit() -> Path:
    """The published TorchScript model, fetched on first use."""
    return SILERO_JIT.path()


def speech_wav() -> Path:
    """30 s of conversation, 16 kHz mono 16-bit, fetched on first use."""
    return SPEECH_WAV.path()


if __name__ == "__main__":
    print(silero_jit(), speech_wav(), sep="\n")
