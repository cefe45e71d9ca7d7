from pteron.payloads.coreml.proto import features_pb2 as _features_pb2
from pteron.payloads.coreml.proto import mil_pb2 as _mil_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Pipeline(_message.Message):
    __slots__ = ("models", "names")
    MODELS_FIELD_NUMBER: _ClassVar[int]
    NAMES_FIELD_NUMBER: _ClassVar[int]
    models: _containers.RepeatedCompositeFieldContainer[Model]
    names: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, models: _Optional[_Iterable[_Union[Model, _Mapping]]] = ..., names: _Optional[_Iterable[str]] = ...) -> None: ...

class PipelineClassifier(_message.Message):
    __slots__ = ("pipeline",)
    PIPELINE_FIELD_NUMBER: _ClassVar[int]
    pipeline: Pipeline
    def __init__(self, pipeline: _Optional[_Union[Pipeline, _Mapping]] = ...) -> None: ...

class PipelineRegressor(_message.Message):
    __slots__ = ("pipeline",)
    PIPELINE_FIELD_NUMBER: _ClassVar[int]
    pipeline: Pipeline
    def __init__(self, pipeline: _Optional[_Union[Pipeline, _Mapping]] = ...) -> None: ...

class FeatureDescription(_message.Message):
    __slots__ = ("name", "shortDescription", "type")
    NAME_FIELD_NUMBER: _ClassVar[int]
    SHORTDESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    name: str
    shortDescription: str
    type: _features_pb2.FeatureType
    def __init__(self, name: _Optional[str] = ..., shortDescription: _Optional[str] = ..., type: _Optional[_Union[_features_pb2.FeatureType, _Mapping]] = ...) -> None: ...

class Metadata(_message.Message):
    __slots__ = ("shortDescription", "versionString", "author", "license", "userDefined")
    class UserDefinedEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    SHORTDESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    VERSIONSTRING_FIELD_NUMBER: _ClassVar[int]
    AUTHOR_FIELD_NUMBER: _ClassVar[int]
    LICENSE_FIELD_NUMBER: _ClassVar[int]
    USERDEFINED_FIELD_NUMBER: _ClassVar[int]
    shortDescription: str
    versionString: str
    author: str
    license: str
    userDefined: _containers.ScalarMap[str, str]
    def __init__(self, shortDescription: _Optional[str] = ..., versionString: _Optional[str] = ..., author: _Optional[str] = ..., license: _Optional[str] = ..., userDefined: _Optional[_Mapping[str, str]] = ...) -> None: ...

class FunctionDescription(_message.Message):
    __slots__ = ("name", "input", "output", "predictedFeatureName", "predictedProbabilitiesName", "state")
    NAME_FIELD_NUMBER: _ClassVar[int]
    INPUT_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    PREDICTEDFEATURENAME_FIELD_NUMBER: _ClassVar[int]
    PREDICTEDPROBABILITIESNAME_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    name: str
    input: _containers.RepeatedCompositeFieldContainer[FeatureDescription]
    output: _containers.RepeatedCompositeFieldContainer[FeatureDescription]
    predictedFeatureName: str
    predictedProbabilitiesName: str
    state: _containers.RepeatedCompositeFieldContainer[FeatureDescription]
    def __init__(self, name: _Optional[str] = ..., input: _Optional[_Iterable[_Union[FeatureDescription, _Mapping]]] = ..., output: _Optional[_Iterable[_Union[FeatureDescription, _Mapping]]] = ..., predictedFeatureName: _Optional[str] = ..., predictedProbabilitiesName: _Optional[str] = ..., state: _Optional[_Iterable[_Union[FeatureDescription, _Mapping]]] = ...) -> None: ...

class ModelDescription(_message.Message):
    __slots__ = ("input", "output", "predictedFeatureName", "predictedProbabilitiesName", "state", "functions", "defaultFunctionName", "trainingInput", "metadata")
    INPUT_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    PREDICTEDFEATURENAME_FIELD_NUMBER: _ClassVar[int]
    PREDICTEDPROBABILITIESNAME_FIELD_NUMBER: _ClassVar[int]
    STATE_FIELD_NUMBER: _ClassVar[int]
    FUNCTIONS_FIELD_NUMBER: _ClassVar[int]
    DEFAULTFUNCTIONNAME_FIELD_NUMBER: _ClassVar[int]
    TRAININGINPUT_FIELD_NUMBER: _ClassVar[int]
    METADATA_FIELD_NUMBER: _ClassVar[int]
    input: _containers.RepeatedCompositeFieldContainer[FeatureDescription]
    output: _containers.RepeatedCompositeFieldContainer[FeatureDescription]
    predictedFeatureName: str
    predictedProbabilitiesName: str
    state: _containers.RepeatedCompositeFieldContainer[FeatureDescription]
    functions: _containers.RepeatedCompositeFieldContainer[FunctionDescription]
    defaultFunctionName: str
    trainingInput: _containers.RepeatedCompositeFieldContainer[FeatureDescription]
    metadata: Metadata
    def __init__(self, input: _Optional[_Iterable[_Union[FeatureDescription, _Mapping]]] = ..., output: _Optional[_Iterable[_Union[FeatureDescription, _Mapping]]] = ..., predictedFeatureName: _Optional[str] = ..., predictedProbabilitiesName: _Optional[str] = ..., state: _Optional[_Iterable[_Union[FeatureDescription, _Mapping]]] = ..., functions: _Optional[_Iterable[_Union[FunctionDescription, _Mapping]]] = ..., defaultFunctionName: _Optional[str] = ..., trainingInput: _Optional[_Iterable[_Union[FeatureDescription, _Mapping]]] = ..., metadata: _Optional[_Union[Metadata, _Mapping]] = ...) -> None: ...

class SerializedModel(_message.Message):
    __slots__ = ("identifier", "model")
    IDENTIFIER_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    identifier: str
    model: bytes
    def __init__(self, identifier: _Optional[str] = ..., model: _Optional[bytes] = ...) -> None: ...

class Model(_message.Message):
    __slots__ = ("specificationVersion", "description", "isUpdatable", "pipelineClassifier", "pipelineRegressor", "pipeline", "mlProgram", "serializedModel")
    SPECIFICATIONVERSION_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    ISUPDATABLE_FIELD_NUMBER: _ClassVar[int]
    PIPELINECLASSIFIER_FIELD_NUMBER: _ClassVar[int]
    PIPELINEREGRESSOR_FIELD_NUMBER: _ClassVar[int]
    PIPELINE_FIELD_NUMBER: _ClassVar[int]
    MLPROGRAM_FIELD_NUMBER: _ClassVar[int]
    SERIALIZEDMODEL_FIELD_NUMBER: _ClassVar[int]
    specificationVersion: int
    description: ModelDescription
    isUpdatable: bool
    pipelineClassifier: PipelineClassifier
    pipelineRegressor: PipelineRegressor
    pipeline: Pipeline
    mlProgram: _mil_pb2.Program
    serializedModel: SerializedModel
    def __init__(self, specificationVersion: _Optional[int] = ..., description: _Optional[_Union[ModelDescription, _Mapping]] = ..., isUpdatable: bool = ..., pipelineClassifier: _Optional[_Union[PipelineClassifier, _Mapping]] = ..., pipelineRegressor: _Optional[_Union[PipelineRegressor, _Mapping]] = ..., pipeline: _Optional[_Union[Pipeline, _Mapping]] = ..., mlProgram: _Optional[_Union[_mil_pb2.Program, _Mapping]] = ..., serializedModel: _Optional[_Union[SerializedModel, _Mapping]] = ...) -> None: ...
