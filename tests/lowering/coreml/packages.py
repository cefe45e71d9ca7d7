"""Payloads as coremltools reads them: the judge of what lowering wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import coremltools as ct
from coremltools.converters.mil.frontend.milproto.load import load
from numpy.typing import NDArray

from pteron.files import PTEFile
from pteron.payloads import open_payload
from pteron.payloads.coreml.package import PACKAGE


def unpack(file: PTEFile, directory: Path, delegate: int = 0) -> Path:
    """The ``.mlpackage`` of a delegate, as files."""
    chosen = file.delegates[delegate]
    blobs = {key: memoryview(blob.data) for key, blob in file.named_data.items()}
    source = open_payload(chosen.backend_id, chosen.payload, blobs, chosen.method)
    for path in source.paths():
        target = directory / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(source.read(path))
    return directory / PACKAGE


def program(package: Path) -> Any:
    """coremltools' program of a package; reading it validates every operation."""
    model = ct.models.MLModel(str(package), skip_model_load=True)
    spec = model.get_spec()
    return load(spec, spec.specificationVersion, model.weights_dir)


def operations(package: Path, function: str = "main") -> list[Any]:
    """The operations of a function, without constants."""
    found = program(package).functions[function].operations
    return [operation for operation in found if operation.op_type != "const"]


def dense_weights(package: Path) -> dict[str, NDArray[Any]]:
    """Every expanded constant by name, computed by coremltools."""
    made = [o for o in operations(package) if o.op_type.startswith("constexpr_")]
    return {
        operation.name: operation.materialized_val_inference()
        for operation in made
        if not any(user.op_type.startswith("constexpr_") for user in operation.outputs[0].child_ops)
    }
