"""What EngineOptions mean in OpenVINO's properties.

OpenVINO picks bf16 by itself on processors with AMX, whatever the model's own types; so the hint
is always given. ``model``: fp16 only where every computed value is fp16, otherwise fp32.
"""

from __future__ import annotations

from typing import Any

from pteron.engines.base import EngineOptions
from pteron.engines.openvino._import import ov
from pteron.errors import UsageError
from pteron.payloads.coreml.proto import mil_pb2 as mil

PRECISIONS = ("model", "f32", "fast")
# Ops that change no value: an fp32 input that is only cast to fp16 is no fp32 computation.
_MOVES = frozenset({"const", "cast", "identity"})


def compile_properties(options: EngineOptions, function: mil.Function) -> dict[str, Any]:
    """Properties to compile a function with; an unknown precision is a UsageError."""
    if options.precision not in PRECISIONS:
        raise UsageError(
            f"precision '{options.precision}' is none of {', '.join(map(repr, PRECISIONS))}"
        )
    if options.threads is not None and options.threads < 1:
        raise UsageError(f"threads must be at least 1, not {options.threads}")
    properties: dict[str, Any] = {
        "INFERENCE_PRECISION_HINT": _hint(options.precision, function),
        "PERFORMANCE_HINT": "LATENCY",
        "CPU_DENORMALS_OPTIMIZATION": options.precision == "fast",
        "NUM_STREAMS": 1,
    }
    if options.threads is not None:
        properties["INFERENCE_NUM_THREADS"] = options.threads
    return properties


def _hint(precision: str, function: mil.Function) -> str:
    capabilities = ov.Core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")
    if precision == "fast" and "BF16" in capabilities:
        return "bf16"
    if precision == "f32" or "FP16" not in capabilities:
        return "f32"
    blocks = function.block_specializations.values()
    return "f32" if any(map(_computes_in_fp32, blocks)) else "f16"


def _computes_in_fp32(block: mil.Block) -> bool:
    return any(
        (
            any(output.type.tensorType.dataType == mil.FLOAT32 for output in op.outputs)
            and op.type not in _MOVES
        )
        or any(map(_computes_in_fp32, op.blocks))
        for op in block.operations
    )
