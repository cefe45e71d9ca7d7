"""What EngineOptions mean in OpenVINO's properties.

OpenVINO picks bf16 by itself on processors with AMX, whatever the model's own types, and may
quantise activations and KV caches to 8 bits; so all three are always said.

``model``: fp32 wherever a value is fp32. A program whose values are all fp16 runs in fp16 only
where that pays, which is when reading its weights takes the time: fp32 would double them. A small
one runs in fp32, which costs nothing and is closer to exact; so does one with quantised weights,
which OpenVINO keeps as they are in fp32 alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pteron.engines.base import EngineOptions
from pteron.engines.openvino._import import ov
from pteron.engines.openvino.threads import thread_properties
from pteron.errors import UsageError
from pteron.payloads.base import PayloadSource
from pteron.payloads.coreml.proto import mil_pb2 as mil

PRECISIONS = ("model", "f32", "fast")
# Ops that change no value: an fp32 input that is only cast to fp16 is no fp32 computation.
_MOVES = frozenset({"const", "cast", "identity"})
_QUANTISED = frozenset({"constexpr_blockwise_shift_scale", "constexpr_affine_dequantize"})
_SMALL = 32 << 20  # bytes of weights below which fp32 is as fast as fp16
_MOST_THREADS = (1 << 31) - 1  # that OpenVINO counts; it starts one per processor at most


def check(options: EngineOptions) -> None:
    """Raise UsageError for options that no function could be compiled with."""
    if options.precision not in PRECISIONS:
        raise UsageError(
            f"precision '{options.precision}' is none of {', '.join(map(repr, PRECISIONS))}"
        )
    if options.threads is not None and options.threads < 1:
        raise UsageError(f"threads must be at least 1, not {options.threads}")
    if options.streams < 1:
        raise UsageError(f"streams must be at least 1, not {options.streams}")
    threads = options.streams * (options.threads or 1)
    if threads > _MOST_THREADS:
        raise UsageError(f"threads of all streams are at most {_MOST_THREADS}, not {threads}")


def compile_properties(
    options: EngineOptions, functions: Sequence[mil.Function], weight_bytes: int
) -> dict[str, Any]:
    """Properties to compile a function with, or several that make a pipeline."""
    hint = _hint(options.precision, functions, weight_bytes)
    properties: dict[str, Any] = {
        "INFERENCE_PRECISION_HINT": hint,
        "PERFORMANCE_HINT": "LATENCY",
        "KV_CACHE_PRECISION": "bf16" if hint == "bf16" else "f16",  # a state's own type is fp16
    }
    if options.precision != "fast":
        properties |= {
            "CPU_DENORMALS_OPTIMIZATION": False,
            "DYNAMIC_QUANTIZATION_GROUP_SIZE": 0,
        }
    return properties | thread_properties(hint, options, weight_bytes)


def profiling(options: EngineOptions) -> dict[str, Any]:
    """Properties that change what is measured, not what is compiled."""
    return {"PERF_COUNT": True} if options.profile else {}


def weight_bytes(source: PayloadSource) -> int:
    """Bytes of all files of a payload that hold weights."""
    return sum(len(source.read(path)) for path in source.paths() if "/weights/" in path)


def _hint(precision: str, functions: Sequence[mil.Function], weights: int) -> str:
    capabilities = ov.Core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")
    if precision == "fast" and "BF16" in capabilities:
        return "bf16"
    if precision == "f32" or "FP16" not in capabilities:
        return "f32"
    blocks = [b for f in functions for b in f.block_specializations.values()]
    if precision == "model" and (weights < _SMALL or any(map(_is_quantised, blocks))):
        return "f32"
    return "f32" if any(map(_computes_in_fp32, blocks)) else "f16"


def _is_quantised(block: mil.Block) -> bool:
    return any(operation.type in _QUANTISED for operation in block.operations)


def _computes_in_fp32(block: mil.Block) -> bool:
    return any(
        (
            any(output.type.tensorType.dataType == mil.FLOAT32 for output in op.outputs)
            and op.type not in _MOVES
        )
        or any(map(_computes_in_fp32, op.blocks))
        for op in block.operations
    )
