"""What coremltools reads in the package of a delegate."""

from __future__ import annotations

from coremltools.proto.Model_pb2 import Model

from pteron.files.methods import Delegate
from pteron.payloads.coreml import memfs


def model_of(delegate: Delegate) -> Model:
    """The Core ML model of a payload."""
    files = memfs.unflatten(delegate.payload)
    (data,) = (data for path, data in files.items() if path.endswith("model.mlmodel"))
    return Model.FromString(bytes(data))


def states_of(delegate: Delegate) -> list[str]:
    """What it holds as state: declared states, and operations that read or write one."""
    model = model_of(delegate)
    blocks = [
        b for f in model.mlProgram.functions.values() for b in f.block_specializations.values()
    ]
    touching = [op.type for block in blocks for op in block.operations if "state" in op.type]
    return [feature.name for feature in model.description.state] + touching
