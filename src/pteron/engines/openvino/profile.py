"""Where the time of a call went: OpenVINO's performance counters, by operations of the program.

A node of the compiled model stands for one or more nodes of the translated graph; the runtime
model says which (``originalLayersNames``), and :mod:`pteron.engines.openvino.names` gave those
the names of the operations they were made for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pteron.engines.base import OpTime
from pteron.engines.openvino.names import op_of

_ORIGINAL = "originalLayersNames"
_NO_WORK = frozenset({"Parameter", "Input", "Result", "Output", "Constant"})


def operations(model: Any) -> Mapping[str, tuple[str, ...]]:
    """Outputs of the program's operations that each node of a compiled model computes."""
    nodes = model.get_runtime_model().get_ordered_ops()
    return {node.friendly_name: _operations(node.get_rt_info()) for node in nodes}


def op_times(request: Any, made_of: Mapping[str, tuple[str, ...]]) -> list[OpTime]:
    """Times of a request's last inference, of a model compiled to be profiled."""
    return [
        OpTime(
            info.node_name,
            info.node_type,
            info.exec_type,
            made_of.get(info.node_name, ()),
            info.real_time.total_seconds(),
        )
        for info in request.get_profiling_info()
        if info.node_type not in _NO_WORK and info.real_time
    ]


def _operations(runtime: Any) -> tuple[str, ...]:
    if _ORIGINAL not in runtime:
        return ()
    ops = map(op_of, runtime[_ORIGINAL].astype(str).split(","))
    return tuple(dict.fromkeys(op for op in ops if op))
