"""A package's function with some passes applied, and without: how often, and both results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pteron.engines.openvino._import import ov
from pteron.engines.openvino.build import build
from pteron.engines.openvino.passes import PASSES, Target
from pteron.payloads.coreml.package import CoreMLPackage
from pteron.payloads.sources import FilesSource


def compare(
    source: FilesSource, inputs: Sequence[np.ndarray], *names: str, hint: str = "f32"
) -> tuple[dict[str, int], list[np.ndarray], list[np.ndarray]]:
    """Counts by pass, outputs without the passes, and with them; both computed in ``hint``."""
    plain, changed = (build(CoreMLPackage(source), "main").model for _ in range(2))
    target = Target(hint, exact=False)
    counts = {name: PASSES[name](changed, target) for name in names}
    return counts, _run(plain, inputs, hint), _run(changed, inputs, hint)


def _run(model: Any, inputs: Sequence[np.ndarray], hint: str) -> list[np.ndarray]:
    compiled = ov.Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": hint})
    request = compiled.create_infer_request()
    request.infer(list(inputs))
    return [request.get_output_tensor(i).data.copy() for i in range(len(compiled.outputs))]


def running_types(compiled: Any) -> list[str]:
    """Types of the nodes that run of a compiled model."""
    nodes = compiled.get_runtime_model().get_ordered_ops()
    return [node.get_rt_info()["layerType"].astype(str) for node in nodes]


def types(source: FilesSource, *names: str) -> list[str]:
    """Types of the nodes of the rewritten graph."""
    model = build(CoreMLPackage(source), "main").model
    for name in names:
        PASSES[name](model, Target("f32", exact=False))
    return [node.get_type_name() for node in model.get_ordered_ops()]
