"""What of this machine changes what OpenVINO compiles for it."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from functools import cache

from pteron.engines.openvino._import import ov
from pteron.engines.openvino.fingerprint import translator


def version() -> str:
    """OpenVINO's version with its build number, and our translator's fingerprint."""
    return f"{ov.get_version()}, translator {translator()}"


@cache
def features() -> Mapping[str, str]:
    """Processor, instruction sets and OpenVINO's own view of them."""
    core = ov.Core()
    return {
        "system": platform.system(),
        "machine": platform.machine(),
        "processor": str(core.get_property("CPU", "FULL_DEVICE_NAME")),
        "capabilities": " ".join(sorted(core.get_property("CPU", "OPTIMIZATION_CAPABILITIES"))),
        "flags": _instruction_sets(),
    }


def _instruction_sets() -> str:
    """The processor's flags that code generators look at, from /proc/cpuinfo where there is one."""
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:  # noqa: PTH123
            line = next((line for line in file if line.startswith(("flags", "Features"))), "")
    except OSError:
        return ""
    flags = line.partition(":")[2].split()
    wanted = ("sse4", "avx", "fma", "f16c", "amx", "neon", "asimd", "sve", "bf16", "i8mm")
    return " ".join(sorted(flag for flag in flags if flag.startswith(wanted)))
