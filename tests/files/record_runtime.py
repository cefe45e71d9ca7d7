"""Records what the installed ExecuTorch wheel registers.

Run as ``python -m tests.files.record_runtime`` after another version was installed.
"""

from __future__ import annotations

import json
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

import pteron


def registries() -> dict[str, list[str]]:
    """Backends and operators that the installed wheel registers by itself, and on request."""
    from executorch.runtime import Runtime

    runtime = Runtime.get()
    backends = runtime.backend_registry.registered_backend_names
    operators = set(runtime.operator_registry.operator_names)
    import_module("executorch.kernels.quantized")  # registers kernels
    return {
        "backends": sorted(backends),
        "operators": sorted(operators),
        "quantized_operators": sorted(set(runtime.operator_registry.operator_names) - operators),
    }


def installed() -> str:
    """The wheel's version, without the build's own tag."""
    return version("executorch").partition("+")[0]


def path() -> Path:
    """Where the registries of the installed version belong."""
    runtimes = Path(pteron.__file__).parent / "files" / "runtimes"
    return runtimes / f"executorch-{installed()}.json"


if __name__ == "__main__":
    path().write_text(json.dumps(registries(), indent=1) + "\n", "utf-8")
