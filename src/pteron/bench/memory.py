"""Peak resident memory of something done in this process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")
_RESET_PEAK = "5"  # proc(5): sets VmHWM to the present VmRSS


@dataclass
class Growth:
    """Bytes by which resident memory grew at most; None where the system does not tell."""

    bytes: int | None = None


@contextmanager
def peak_growth() -> Iterator[Growth]:
    """Measure the block: its peak less what was resident before. Mapped files count, too."""
    growth = Growth()
    before = _reset()
    yield growth
    if before is not None:
        growth.bytes = max(0, _read("VmHWM") - before)


def _reset() -> int | None:
    try:
        _CLEAR.write_text(_RESET_PEAK, encoding="ascii")
        return _read("VmRSS")
    except OSError:
        return None


def _read(field: str) -> int:
    lines = _STATUS.read_text(encoding="ascii", errors="replace").splitlines()
    kilobytes = next(line.split()[1] for line in lines if line.startswith(field + ":"))
    return int(kilobytes) * 1024
