"""What of this machine changes what OpenVINO compiles for it."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from functools import cache

from pteron.engines.openvino._import import opset, ov
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
        "processors": "one" if core.get_property("CPU", "RANGE_FOR_STREAMS")[1] == 1 else "several",
    }


@cache
def threads(limit: int | None, streams: int = 1) -> int:
    """How many threads OpenVINO gives all streams that may have this many (None: as it likes).

    That depends on the processors, cores and sockets that the process may use. OpenVINO tells it
    of compiled models only, so this compiles one (15 ms).
    """
    properties = {"PERFORMANCE_HINT": "LATENCY", "NUM_STREAMS": streams}
    if limit is not None:
        properties["INFERENCE_NUM_THREADS"] = limit
    model = ov.Model([opset.constant(0.0)], [], "threads")
    compiled = ov.Core().compile_model(model, "CPU", properties)
    return int(compiled.get_property("INFERENCE_NUM_THREADS"))


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
