"""What can be extracted, and in which form."""

from __future__ import annotations

from typing import Literal

CONTENTS = ("program", "constants", "named-data", "payloads")
"""Parts of a file, by the names that users give."""

ArrayFormat = Literal["safetensors", "npy"]
"""How arrays are written."""
