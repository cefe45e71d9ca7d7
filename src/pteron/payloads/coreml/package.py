"""A Core ML package: model, ML program, metadata and weights, each read when first asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path

from google.protobuf.message import DecodeError

from pteron.errors import FormatError, UnsupportedError
from pteron.payloads.base import PayloadSource
from pteron.payloads.coreml import compiled, manifest, metadata
from pteron.payloads.coreml.proto.mil_pb2 import Program
from pteron.payloads.coreml.proto.model_pb2 import FeatureDescription, Model, Pipeline
from pteron.payloads.coreml.weights import WeightFile
from pteron.payloads.sources import FilesSource, map_directory

BACKEND_ID = "CoreMLBackend"
PACKAGE = "model.mlpackage"
COMPILED = "model.mlmodelc"

_PIPELINES: dict[str | None, Callable[[Model], Pipeline]] = {
    "pipeline": lambda model: model.pipeline,
    "pipelineClassifier": lambda model: model.pipelineClassifier.pipeline,
    "pipelineRegressor": lambda model: model.pipelineRegressor.pipeline,
}


def directory_source(path: Path | str) -> FilesSource:
    """A payload source over a plain ``.mlpackage`` (or ``.mlmodelc``) directory, mapped read-only.

    Raises FileAccessError when it is no directory or cannot be read.
    """
    directory = Path(path)
    is_compiled = directory.suffix == ".mlmodelc" or (directory / compiled.DESCRIPTION).is_file()
    root = COMPILED if is_compiled else PACKAGE
    return FilesSource(BACKEND_ID, map_directory(directory, root))


class CoreMLPackage:
    """What a payload source holds, in Core ML's terms.

    Attributes:
        source: the files it is read from.

    Args:
        stage: a model of the source's pipeline, to be looked at by itself.
    """

    def __init__(self, source: PayloadSource, stage: Model | None = None) -> None:
        self.source = source
        self._stage = stage
        self._weights: dict[str, WeightFile] = {}

    @property
    def is_compiled(self) -> bool:
        """Whether it holds a compiled model (``.mlmodelc``): its program is text."""
        return any(path.startswith(f"{COMPILED}/") for path in self.source.paths())

    @cached_property
    def model_path(self) -> str:
        """Path in the source of the model specification; of a compiled model, of its description.

        Raises FormatError when there is no model.
        """
        if self.is_compiled:
            return f"{COMPILED}/{compiled.DESCRIPTION}"
        description = self.source.read(f"{PACKAGE}/{manifest.FILE_NAME}")
        return f"{PACKAGE}/{manifest.root_model_path(description)}"

    @cached_property
    def model(self) -> Model:
        """The model specification. Raises FormatError when it cannot be parsed."""
        if self._stage is not None:
            return self._stage
        if self.is_compiled:
            return compiled.read_model(self.source, COMPILED)
        try:
            return Model.FromString(bytes(self.source.read(self.model_path)))
        except DecodeError as error:
            raise FormatError(f"not a Core ML model: {error}", where=self.model_path) from error

    @property
    def is_pipeline(self) -> bool:
        """Whether it holds several models, one after the other."""
        return self.model.WhichOneof("Type") in _PIPELINES

    @cached_property
    def stages(self) -> list[CoreMLPackage]:
        """The models of a pipeline, in order, inner pipelines spread out; else the one there is."""
        if not self.is_pipeline:
            return [self]
        pipeline = _PIPELINES[self.model.WhichOneof("Type")](self.model)
        inner = [CoreMLPackage(self.source, model) for model in pipeline.models]
        return [stage for package in inner for stage in package.stages]

    @property
    def program(self) -> Program:
        """The ML program. Raises UnsupportedError for a model of another kind."""
        if self.model.WhichOneof("Type") != "mlProgram":
            kind = self.model.WhichOneof("Type") or "an older kind"
            raise UnsupportedError(f"the Core ML model is no ML program but {kind}")
        return self.model.mlProgram

    @cached_property
    def metadata(self) -> metadata.Metadata:
        """Identifier and argument names; those of the model's description if no file says them."""
        if self._stage is None and metadata.FILE_NAME in self.source.paths():
            return metadata.read_metadata(self.source.read(metadata.FILE_NAME))
        description = self.model.description
        return metadata.Metadata(
            identifier="",
            names=_names(description.input, description.output),
            methods={f.name: _names(f.input, f.output) for f in description.functions},
        )

    def weights(self, file_name: str) -> WeightFile:
        """The weight file that a blob value of the program names (``@model_path/weights/...``).

        Raises FormatError when the package has no such file or it is not a weight file.
        """
        if file_name not in self._weights:
            data = self.source.read(self.weight_path(file_name))
            self._weights[file_name] = WeightFile(data, file_name)
        return self._weights[file_name]

    def weight_path(self, file_name: str) -> str:
        """Path in the source of the weight file that the program calls ``file_name``."""
        folder = self.model_path.rpartition("/")[0]
        return f"{folder}/{file_name.removeprefix(compiled.MODEL_PATH)}"


def _names(
    inputs: Iterable[FeatureDescription], outputs: Iterable[FeatureDescription]
) -> metadata.MethodNames:
    return metadata.MethodNames(
        inputs=tuple(feature.name for feature in inputs),
        outputs=tuple(feature.name for feature in outputs),
    )
