"""A converted model -> the bytes and options of a CoreMLBackend delegate."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pteron.lowering.coreml.convert import Converted
from pteron.payloads.coreml import memfs
from pteron.payloads.coreml import metadata as metadata_file
from pteron.payloads.coreml.metadata import Metadata, MethodNames

if TYPE_CHECKING:
    from pteron.lowering.options import CoreML
    from pteron.lowering.state import BufferRecord

BACKEND_ID = "CoreMLBackend"
_DATA = "model.mlpackage/Data/com.apple.CoreML"


def payload(converted: Converted) -> bytes:
    """The delegate's payload: the package and ``metadata.json`` as one flat file system."""
    names = MethodNames(converted.inputs, converted.outputs)
    identifier = named(converted.model + converted.weights)
    return image(converted.model, converted.weights, Metadata(identifier, names))


def named(content: bytes) -> str:
    """The identifier, which ExecuTorch's runtime uses as the compiled model's name in its cache.

    It is a digest of the content, so that the same model always gives the same bytes.
    """
    return f"pteron_{hashlib.sha256(content).hexdigest()[:32]}"


def image(model: bytes, weights: bytes, metadata: Metadata) -> bytes:
    """A Model message, its weights and what ExecuTorch's runtime wants to know of it."""
    files = {
        metadata_file.FILE_NAME: metadata.to_bytes(),
        f"{_DATA}/model.mlmodel": model,
        "model.mlpackage/Manifest.json": _manifest(metadata.identifier, bool(weights)),
    }
    if weights:
        files[f"{_DATA}/weights/weight.bin"] = weights
    return memfs.flatten(files)


def _manifest(identifier: str, weights: bool) -> bytes:
    """The package's list of items; their ids are made of the content, not of chance."""

    def item(name: str, description: str) -> tuple[str, dict[str, str]]:
        return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{identifier}/{name}")), {
            "author": "com.apple.CoreML",
            "description": description,
            "name": name,
            "path": f"com.apple.CoreML/{name}",
        }

    items = [item("model.mlmodel", "CoreML Model Specification")]
    if weights:
        items.append(item("weights", "CoreML Model Weights"))
    manifest = {
        "fileFormatVersion": "1.0.0",
        "itemInfoEntries": dict(items),
        "rootModelIdentifier": items[0][0],
    }
    return json.dumps(manifest, indent=4).encode()


def compile_specs(
    options: CoreML, target: int, states: Sequence[tuple[BufferRecord, str]]
) -> dict[str, bytes]:
    """What ExecuTorch's Core ML backend would note, and the names of the delegate's states.

    ``target`` is the specification version of the deployment target, ``states`` pairs each owned
    buffer with its name in the payload.
    """
    specs = {
        "compute_units": options.compute_units.encode(),
        "min_deployment_target": str(target).encode(),
        "model_compute_precision": options.compute_precision.encode(),
        "model_type": b"model",
    }
    if states:
        named = [
            {
                "name": record.name,
                "payload_name": name,
                "dtype": record.stored_dtype,
                "source_dtype": record.dtype,
                "shape": list(record.shape),
            }
            for record, name in states
        ]
        specs["pteron.states"] = json.dumps(named, ensure_ascii=False).encode()
    return specs
