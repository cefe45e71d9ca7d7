"""The runtimes that are known, with the source of every fact.

Core ML state exists since iOS 18 and macOS 15. ExecuTorch's delegate uses it where it was compiled
with an SDK that has ``CoreML/MLModel+MLState.h``, that of Xcode 16, and runs on such a system
(backends/apple/coreml/runtime/delegate/MLModel_Prewarm.h, ``MODEL_STATE_IS_SUPPORTED``; pull
requests 5143 and 7432 of pytorch/executorch). A delegate without it fails at the first call:
"the input feature ... must be an MLState". The wheel for macOS is such a build
(extension/llm/export/partitioner_lib.py of the wheel says that the project's own scripts build the
delegate without state; issue 21855 of pytorch/executorch shows the failure with 1.4.0).

A system's Core ML loads specifications up to its own: 8 on iOS 17 and macOS 14, 9 on iOS 18 and
macOS 15, 10 on iOS 26 and macOS 26 (coremltools, ``coremltools.target``).

The kernels and backends of the Linux wheel are recorded from its registries, see
:mod:`pteron.files.runtimes.recorded`. Those of the other runtimes cannot be listed off macOS:
for the macOS wheel, which is built from the same kernel libraries, the same kernels are assumed,
and the backends are those that its README names (Core ML and MLX beside XNNPACK).
"""

from __future__ import annotations

from pteron.errors import UsageError
from pteron.files.runtimes.recorded import recorded
from pteron.files.runtimes.runtime import Runtime
from pteron.suggestions import meant

_WHEEL = "1.5.1"
_APPLE_BACKENDS = frozenset({"CoreMLBackend", "XnnpackBackend"})
_SPECIFICATIONS = {"17": 8, "18": 9, "26": 10}
_MACOS = {"17": "14", "18": "15", "26": "26"}
"""macOS of the same Core ML as an iOS."""


def _linux() -> Runtime:
    wheel = recorded(_WHEEL)
    return Runtime(
        name=f"executorch-{_WHEEL}",
        title=f"the wheel of ExecuTorch {_WHEEL} for Linux",
        backends=wheel.backends,
        backend_needs={
            "OpenvinoBackend": "the package openvino, with the library libopenvino_c",
            "QnnBackend": "Qualcomm's libraries and hardware",
        },
        operators=wheel.operators,
        quantized_operators=wheel.quantized_operators,
        links_operators=False,
        coreml_specification=0,
        coreml_state=False,
        coreml_state_note="it has no Core ML",
        source="the wheel's own registries",
    )


def _macos_wheel() -> Runtime:
    return Runtime(
        name="executorch-macos-pip",
        title=f"the wheel of ExecuTorch {_WHEEL} for macOS, on macOS 15 or newer",
        backends=_APPLE_BACKENDS | {"MLXBackend"},
        backend_needs={},
        operators=recorded(_WHEEL).operators,
        quantized_operators=recorded(_WHEEL).quantized_operators,
        links_operators=False,
        coreml_specification=_SPECIFICATIONS["26"],
        coreml_state=False,
        coreml_state_note="its Core ML delegate is built without state",
        source="the wheel's README, partitioner_lib.py, pytorch/executorch issue 21855",
    )


def _app(system: str, version: str, specification: int) -> Runtime:
    has_state = specification >= _SPECIFICATIONS["18"]
    return Runtime(
        name=f"executorch-{system.lower()}{version}",
        title=f"an app with ExecuTorch {_WHEEL} on {system} {version}",
        backends=_APPLE_BACKENDS,
        backend_needs={},
        operators=recorded(_WHEEL).operators,
        quantized_operators=recorded(_WHEEL).quantized_operators,
        links_operators=True,
        coreml_specification=specification,
        coreml_state=has_state,
        coreml_state_note=(
            "if the delegate was built with Xcode 16 or newer"
            if has_state
            else "Core ML has state since iOS 18 and macOS 15"
        ),
        source="MLModel_Prewarm.h, pytorch/executorch pull requests 5143 and 7432",
    )


def _all() -> dict[str, Runtime]:
    found = [_linux(), _macos_wheel()]
    for ios, specification in _SPECIFICATIONS.items():
        found.append(_app("iOS", ios, specification))
        found.append(_app("macOS", _MACOS[ios], specification))
    return {runtime.name: runtime for runtime in found}


RUNTIMES = _all()
"""Every runtime by name."""


def find_runtime(name: str) -> Runtime:
    """The runtime of that name. Raises UsageError, naming those there are."""
    if name not in RUNTIMES:
        known = ", ".join(RUNTIMES)
        raise UsageError(f"no runtime {name!r} is known{meant(name, RUNTIMES)}: {known}")
    return RUNTIMES[name]


def coreml_state_runtimes() -> str:
    """A sentence on which of the runtimes bind Core ML state."""
    binding = [one.name for one in RUNTIMES.values() if one.coreml_state]
    refusing = [
        one.name
        for one in RUNTIMES.values()
        if "CoreMLBackend" in one.backends and not one.coreml_state
    ]
    return (
        f"Core ML state is bound by {', '.join(binding)} (delegate built with Xcode 16 or newer), "
        f"not by {', '.join(refusing)}; 'pteron check --for' tells of a file"
    )
