"""Give a Core ML delegate another model, from a ``.mlpackage`` directory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from pteron.edit.replace_payload import find_delegate, replace_payload
from pteron.errors import FormatError, UnsupportedError, UsageError
from pteron.files import Delegate, PTEFile
from pteron.files.state_names import declared_state_names
from pteron.payloads.coreml import metadata
from pteron.payloads.coreml.memfs import FileImage, flatten, read_image
from pteron.payloads.coreml.metadata import Metadata, MethodNames
from pteron.payloads.coreml.package import BACKEND_ID, CoreMLPackage, directory_source
from pteron.payloads.coreml.proto.model_pb2 import FeatureDescription
from pteron.payloads.coreml.reference import read_reference
from pteron.payloads.sources import FilesSource


def replace_coreml(file: PTEFile, method: str, index: int, package: Path | str) -> PTEFile:
    """The program with a delegate's model taken from a package.

    The order of the delegate's arguments stays as the old payload's metadata has it, so the new
    model must have inputs, outputs and states of the same names. The identifier, by which
    runtimes cache the compiled model, becomes a digest of the package; debug information of the
    old model goes. A model in named data is replaced for all methods that share it.

    Raises:
        UsageError: there is no such delegate, or the model's names are others.
        UnsupportedError: it is no Core ML delegate.
        FileAccessError, FormatError: the package cannot be read.
    """
    delegate = find_delegate(file, method, index)
    if delegate.backend_id != BACKEND_ID:
        raise UnsupportedError(
            f"delegate {index} of {method!r} is of {delegate.backend_id}, not {BACKEND_ID}"
        )
    source = directory_source(package)
    reference = read_reference(delegate.payload)
    if reference is None:
        return replace_payload(file, method, index, _payload(delegate, delegate.payload, source))
    parts = file.parts()
    named = dict(parts.named_data)
    if reference.key not in named:
        raise FormatError(f"the payload refers to named data {reference.key!r}, which is not there")
    blob = named[reference.key]
    payload = _payload(delegate, memoryview(blob.data), source)
    parts.named_data = named | {reference.key: replace(blob, data=payload)}
    return PTEFile(**vars(parts))


def _payload(delegate: Delegate, old: memoryview, source: FilesSource) -> bytes:
    image = read_image(old)
    new = CoreMLPackage(source)
    described = _metadata(image)
    if described.methods:
        functions = {function.name: function for function in new.model.description.functions}
        for name, names in described.methods.items():
            if name not in functions:
                raise UsageError(f"the model has no function {name!r}")
            function = functions[name]
            _require_names(names, function.input, function.output, f"function {name!r}")
    else:
        description = new.model.description
        _require_names(described.names, description.input, description.output, "the model")
    _require_states(delegate, new)
    described = replace(described, identifier=f"pteron_{source.digest()[:32]}")
    return flatten({metadata.FILE_NAME: described.to_bytes(), **source.files}, root=image.root)


def _metadata(image: FileImage) -> Metadata:
    if metadata.FILE_NAME not in image.files:
        raise FormatError(f"the old payload has no {metadata.FILE_NAME}")
    return metadata.read_metadata(image.files[metadata.FILE_NAME])


def _require_names(
    names: MethodNames,
    inputs: Iterable[FeatureDescription],
    outputs: Iterable[FeatureDescription],
    what: str,
) -> None:
    for kind, wanted, found in (
        ("inputs", names.inputs, [feature.name for feature in inputs]),
        ("outputs", names.outputs, [feature.name for feature in outputs]),
    ):
        if sorted(wanted) != sorted(found):
            raise UsageError(
                f"{what} has {kind} {', '.join(found) or 'none'};"
                f" the delegate calls it with {', '.join(wanted) or 'none'}"
            )


def _require_states(delegate: Delegate, package: CoreMLPackage) -> None:
    description = package.model.description
    known = {feature.name for feature in description.state}
    known |= {state.name for function in description.functions for state in function.state}
    for name in declared_state_names(delegate):
        if name not in known:
            raise UsageError(f"the model has no state {name!r}, which the delegate needs")
