from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class DataType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    UNUSED_TYPE: _ClassVar[DataType]
    BOOL: _ClassVar[DataType]
    STRING: _ClassVar[DataType]
    FLOAT16: _ClassVar[DataType]
    FLOAT32: _ClassVar[DataType]
    FLOAT64: _ClassVar[DataType]
    BFLOAT16: _ClassVar[DataType]
    INT8: _ClassVar[DataType]
    INT16: _ClassVar[DataType]
    INT32: _ClassVar[DataType]
    INT64: _ClassVar[DataType]
    INT4: _ClassVar[DataType]
    UINT8: _ClassVar[DataType]
    UINT16: _ClassVar[DataType]
    UINT32: _ClassVar[DataType]
    UINT64: _ClassVar[DataType]
    UINT4: _ClassVar[DataType]
    UINT2: _ClassVar[DataType]
    UINT1: _ClassVar[DataType]
    UINT6: _ClassVar[DataType]
    UINT3: _ClassVar[DataType]
    FLOAT8E4M3FN: _ClassVar[DataType]
    FLOAT8E5M2: _ClassVar[DataType]
UNUSED_TYPE: DataType
BOOL: DataType
STRING: DataType
FLOAT16: DataType
FLOAT32: DataType
FLOAT64: DataType
BFLOAT16: DataType
INT8: DataType
INT16: DataType
INT32: DataType
INT64: DataType
INT4: DataType
UINT8: DataType
UINT16: DataType
UINT32: DataType
UINT64: DataType
UINT4: DataType
UINT2: DataType
UINT1: DataType
UINT6: DataType
UINT3: DataType
FLOAT8E4M3FN: DataType
FLOAT8E5M2: DataType

class Program(_message.Message):
    __slots__ = ("version", "functions", "docString", "attributes")
    class FunctionsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: Function
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[Function, _Mapping]] = ...) -> None: ...
    class AttributesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: Value
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[Value, _Mapping]] = ...) -> None: ...
    VERSION_FIELD_NUMBER: _ClassVar[int]
    FUNCTIONS_FIELD_NUMBER: _ClassVar[int]
    DOCSTRING_FIELD_NUMBER: _ClassVar[int]
    ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
    version: int
    functions: _containers.MessageMap[str, Function]
    docString: str
    attributes: _containers.MessageMap[str, Value]
    def __init__(self, version: _Optional[int] = ..., functions: _Optional[_Mapping[str, Function]] = ..., docString: _Optional[str] = ..., attributes: _Optional[_Mapping[str, Value]] = ...) -> None: ...

class Function(_message.Message):
    __slots__ = ("inputs", "opset", "block_specializations", "attributes")
    class BlockSpecializationsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: Block
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[Block, _Mapping]] = ...) -> None: ...
    class AttributesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: Value
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[Value, _Mapping]] = ...) -> None: ...
    INPUTS_FIELD_NUMBER: _ClassVar[int]
    OPSET_FIELD_NUMBER: _ClassVar[int]
    BLOCK_SPECIALIZATIONS_FIELD_NUMBER: _ClassVar[int]
    ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
    inputs: _containers.RepeatedCompositeFieldContainer[NamedValueType]
    opset: str
    block_specializations: _containers.MessageMap[str, Block]
    attributes: _containers.MessageMap[str, Value]
    def __init__(self, inputs: _Optional[_Iterable[_Union[NamedValueType, _Mapping]]] = ..., opset: _Optional[str] = ..., block_specializations: _Optional[_Mapping[str, Block]] = ..., attributes: _Optional[_Mapping[str, Value]] = ...) -> None: ...

class Block(_message.Message):
    __slots__ = ("inputs", "outputs", "operations", "attributes")
    class AttributesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: Value
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[Value, _Mapping]] = ...) -> None: ...
    INPUTS_FIELD_NUMBER: _ClassVar[int]
    OUTPUTS_FIELD_NUMBER: _ClassVar[int]
    OPERATIONS_FIELD_NUMBER: _ClassVar[int]
    ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
    inputs: _containers.RepeatedCompositeFieldContainer[NamedValueType]
    outputs: _containers.RepeatedScalarFieldContainer[str]
    operations: _containers.RepeatedCompositeFieldContainer[Operation]
    attributes: _containers.MessageMap[str, Value]
    def __init__(self, inputs: _Optional[_Iterable[_Union[NamedValueType, _Mapping]]] = ..., outputs: _Optional[_Iterable[str]] = ..., operations: _Optional[_Iterable[_Union[Operation, _Mapping]]] = ..., attributes: _Optional[_Mapping[str, Value]] = ...) -> None: ...

class Operation(_message.Message):
    __slots__ = ("type", "inputs", "outputs", "blocks", "attributes")
    class InputsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: Argument
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[Argument, _Mapping]] = ...) -> None: ...
    class AttributesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: Value
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[Value, _Mapping]] = ...) -> None: ...
    TYPE_FIELD_NUMBER: _ClassVar[int]
    INPUTS_FIELD_NUMBER: _ClassVar[int]
    OUTPUTS_FIELD_NUMBER: _ClassVar[int]
    BLOCKS_FIELD_NUMBER: _ClassVar[int]
    ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
    type: str
    inputs: _containers.MessageMap[str, Argument]
    outputs: _containers.RepeatedCompositeFieldContainer[NamedValueType]
    blocks: _containers.RepeatedCompositeFieldContainer[Block]
    attributes: _containers.MessageMap[str, Value]
    def __init__(self, type: _Optional[str] = ..., inputs: _Optional[_Mapping[str, Argument]] = ..., outputs: _Optional[_Iterable[_Union[NamedValueType, _Mapping]]] = ..., blocks: _Optional[_Iterable[_Union[Block, _Mapping]]] = ..., attributes: _Optional[_Mapping[str, Value]] = ...) -> None: ...

class Argument(_message.Message):
    __slots__ = ("arguments",)
    class Binding(_message.Message):
        __slots__ = ("name", "value")
        NAME_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        name: str
        value: Value
        def __init__(self, name: _Optional[str] = ..., value: _Optional[_Union[Value, _Mapping]] = ...) -> None: ...
    ARGUMENTS_FIELD_NUMBER: _ClassVar[int]
    arguments: _containers.RepeatedCompositeFieldContainer[Argument.Binding]
    def __init__(self, arguments: _Optional[_Iterable[_Union[Argument.Binding, _Mapping]]] = ...) -> None: ...

class NamedValueType(_message.Message):
    __slots__ = ("name", "type")
    NAME_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    name: str
    type: ValueType
    def __init__(self, name: _Optional[str] = ..., type: _Optional[_Union[ValueType, _Mapping]] = ...) -> None: ...

class ValueType(_message.Message):
    __slots__ = ("tensorType", "listType", "tupleType", "dictionaryType", "stateType")
    TENSORTYPE_FIELD_NUMBER: _ClassVar[int]
    LISTTYPE_FIELD_NUMBER: _ClassVar[int]
    TUPLETYPE_FIELD_NUMBER: _ClassVar[int]
    DICTIONARYTYPE_FIELD_NUMBER: _ClassVar[int]
    STATETYPE_FIELD_NUMBER: _ClassVar[int]
    tensorType: TensorType
    listType: ListType
    tupleType: TupleType
    dictionaryType: DictionaryType
    stateType: StateType
    def __init__(self, tensorType: _Optional[_Union[TensorType, _Mapping]] = ..., listType: _Optional[_Union[ListType, _Mapping]] = ..., tupleType: _Optional[_Union[TupleType, _Mapping]] = ..., dictionaryType: _Optional[_Union[DictionaryType, _Mapping]] = ..., stateType: _Optional[_Union[StateType, _Mapping]] = ...) -> None: ...

class TensorType(_message.Message):
    __slots__ = ("dataType", "rank", "dimensions", "attributes")
    class AttributesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: Value
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[Value, _Mapping]] = ...) -> None: ...
    DATATYPE_FIELD_NUMBER: _ClassVar[int]
    RANK_FIELD_NUMBER: _ClassVar[int]
    DIMENSIONS_FIELD_NUMBER: _ClassVar[int]
    ATTRIBUTES_FIELD_NUMBER: _ClassVar[int]
    dataType: DataType
    rank: int
    dimensions: _containers.RepeatedCompositeFieldContainer[Dimension]
    attributes: _containers.MessageMap[str, Value]
    def __init__(self, dataType: _Optional[_Union[DataType, str]] = ..., rank: _Optional[int] = ..., dimensions: _Optional[_Iterable[_Union[Dimension, _Mapping]]] = ..., attributes: _Optional[_Mapping[str, Value]] = ...) -> None: ...

class ListType(_message.Message):
    __slots__ = ("type", "length")
    TYPE_FIELD_NUMBER: _ClassVar[int]
    LENGTH_FIELD_NUMBER: _ClassVar[int]
    type: ValueType
    length: Dimension
    def __init__(self, type: _Optional[_Union[ValueType, _Mapping]] = ..., length: _Optional[_Union[Dimension, _Mapping]] = ...) -> None: ...

class TupleType(_message.Message):
    __slots__ = ("types",)
    TYPES_FIELD_NUMBER: _ClassVar[int]
    types: _containers.RepeatedCompositeFieldContainer[ValueType]
    def __init__(self, types: _Optional[_Iterable[_Union[ValueType, _Mapping]]] = ...) -> None: ...

class DictionaryType(_message.Message):
    __slots__ = ("keyType", "valueType")
    KEYTYPE_FIELD_NUMBER: _ClassVar[int]
    VALUETYPE_FIELD_NUMBER: _ClassVar[int]
    keyType: ValueType
    valueType: ValueType
    def __init__(self, keyType: _Optional[_Union[ValueType, _Mapping]] = ..., valueType: _Optional[_Union[ValueType, _Mapping]] = ...) -> None: ...

class StateType(_message.Message):
    __slots__ = ("wrappedType",)
    WRAPPEDTYPE_FIELD_NUMBER: _ClassVar[int]
    wrappedType: ValueType
    def __init__(self, wrappedType: _Optional[_Union[ValueType, _Mapping]] = ...) -> None: ...

class Dimension(_message.Message):
    __slots__ = ("constant", "unknown")
    class ConstantDimension(_message.Message):
        __slots__ = ("size",)
        SIZE_FIELD_NUMBER: _ClassVar[int]
        size: int
        def __init__(self, size: _Optional[int] = ...) -> None: ...
    class UnknownDimension(_message.Message):
        __slots__ = ("variadic",)
        VARIADIC_FIELD_NUMBER: _ClassVar[int]
        variadic: bool
        def __init__(self, variadic: bool = ...) -> None: ...
    CONSTANT_FIELD_NUMBER: _ClassVar[int]
    UNKNOWN_FIELD_NUMBER: _ClassVar[int]
    constant: Dimension.ConstantDimension
    unknown: Dimension.UnknownDimension
    def __init__(self, constant: _Optional[_Union[Dimension.ConstantDimension, _Mapping]] = ..., unknown: _Optional[_Union[Dimension.UnknownDimension, _Mapping]] = ...) -> None: ...

class Value(_message.Message):
    __slots__ = ("docString", "type", "immediateValue", "blobFileValue")
    class ImmediateValue(_message.Message):
        __slots__ = ("tensor", "tuple", "list", "dictionary")
        TENSOR_FIELD_NUMBER: _ClassVar[int]
        TUPLE_FIELD_NUMBER: _ClassVar[int]
        LIST_FIELD_NUMBER: _ClassVar[int]
        DICTIONARY_FIELD_NUMBER: _ClassVar[int]
        tensor: TensorValue
        tuple: TupleValue
        list: ListValue
        dictionary: DictionaryValue
        def __init__(self, tensor: _Optional[_Union[TensorValue, _Mapping]] = ..., tuple: _Optional[_Union[TupleValue, _Mapping]] = ..., list: _Optional[_Union[ListValue, _Mapping]] = ..., dictionary: _Optional[_Union[DictionaryValue, _Mapping]] = ...) -> None: ...
    class BlobFileValue(_message.Message):
        __slots__ = ("fileName", "offset")
        FILENAME_FIELD_NUMBER: _ClassVar[int]
        OFFSET_FIELD_NUMBER: _ClassVar[int]
        fileName: str
        offset: int
        def __init__(self, fileName: _Optional[str] = ..., offset: _Optional[int] = ...) -> None: ...
    DOCSTRING_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    IMMEDIATEVALUE_FIELD_NUMBER: _ClassVar[int]
    BLOBFILEVALUE_FIELD_NUMBER: _ClassVar[int]
    docString: str
    type: ValueType
    immediateValue: Value.ImmediateValue
    blobFileValue: Value.BlobFileValue
    def __init__(self, docString: _Optional[str] = ..., type: _Optional[_Union[ValueType, _Mapping]] = ..., immediateValue: _Optional[_Union[Value.ImmediateValue, _Mapping]] = ..., blobFileValue: _Optional[_Union[Value.BlobFileValue, _Mapping]] = ...) -> None: ...

class TensorValue(_message.Message):
    __slots__ = ("floats", "ints", "bools", "strings", "longInts", "doubles", "bytes")
    class RepeatedFloats(_message.Message):
        __slots__ = ("values",)
        VALUES_FIELD_NUMBER: _ClassVar[int]
        values: _containers.RepeatedScalarFieldContainer[float]
        def __init__(self, values: _Optional[_Iterable[float]] = ...) -> None: ...
    class RepeatedInts(_message.Message):
        __slots__ = ("values",)
        VALUES_FIELD_NUMBER: _ClassVar[int]
        values: _containers.RepeatedScalarFieldContainer[int]
        def __init__(self, values: _Optional[_Iterable[int]] = ...) -> None: ...
    class RepeatedBools(_message.Message):
        __slots__ = ("values",)
        VALUES_FIELD_NUMBER: _ClassVar[int]
        values: _containers.RepeatedScalarFieldContainer[bool]
        def __init__(self, values: _Optional[_Iterable[bool]] = ...) -> None: ...
    class RepeatedStrings(_message.Message):
        __slots__ = ("values",)
        VALUES_FIELD_NUMBER: _ClassVar[int]
        values: _containers.RepeatedScalarFieldContainer[str]
        def __init__(self, values: _Optional[_Iterable[str]] = ...) -> None: ...
    class RepeatedLongInts(_message.Message):
        __slots__ = ("values",)
        VALUES_FIELD_NUMBER: _ClassVar[int]
        values: _containers.RepeatedScalarFieldContainer[int]
        def __init__(self, values: _Optional[_Iterable[int]] = ...) -> None: ...
    class RepeatedDoubles(_message.Message):
        __slots__ = ("values",)
        VALUES_FIELD_NUMBER: _ClassVar[int]
        values: _containers.RepeatedScalarFieldContainer[float]
        def __init__(self, values: _Optional[_Iterable[float]] = ...) -> None: ...
    class RepeatedBytes(_message.Message):
        __slots__ = ("values",)
        VALUES_FIELD_NUMBER: _ClassVar[int]
        values: bytes
        def __init__(self, values: _Optional[bytes] = ...) -> None: ...
    FLOATS_FIELD_NUMBER: _ClassVar[int]
    INTS_FIELD_NUMBER: _ClassVar[int]
    BOOLS_FIELD_NUMBER: _ClassVar[int]
    STRINGS_FIELD_NUMBER: _ClassVar[int]
    LONGINTS_FIELD_NUMBER: _ClassVar[int]
    DOUBLES_FIELD_NUMBER: _ClassVar[int]
    BYTES_FIELD_NUMBER: _ClassVar[int]
    floats: TensorValue.RepeatedFloats
    ints: TensorValue.RepeatedInts
    bools: TensorValue.RepeatedBools
    strings: TensorValue.RepeatedStrings
    longInts: TensorValue.RepeatedLongInts
    doubles: TensorValue.RepeatedDoubles
    bytes: TensorValue.RepeatedBytes
    def __init__(self, floats: _Optional[_Union[TensorValue.RepeatedFloats, _Mapping]] = ..., ints: _Optional[_Union[TensorValue.RepeatedInts, _Mapping]] = ..., bools: _Optional[_Union[TensorValue.RepeatedBools, _Mapping]] = ..., strings: _Optional[_Union[TensorValue.RepeatedStrings, _Mapping]] = ..., longInts: _Optional[_Union[TensorValue.RepeatedLongInts, _Mapping]] = ..., doubles: _Optional[_Union[TensorValue.RepeatedDoubles, _Mapping]] = ..., bytes: _Optional[_Union[TensorValue.RepeatedBytes, _Mapping]] = ...) -> None: ...

class TupleValue(_message.Message):
    __slots__ = ("values",)
    VALUES_FIELD_NUMBER: _ClassVar[int]
    values: _containers.RepeatedCompositeFieldContainer[Value]
    def __init__(self, values: _Optional[_Iterable[_Union[Value, _Mapping]]] = ...) -> None: ...

class ListValue(_message.Message):
    __slots__ = ("values",)
    VALUES_FIELD_NUMBER: _ClassVar[int]
    values: _containers.RepeatedCompositeFieldContainer[Value]
    def __init__(self, values: _Optional[_Iterable[_Union[Value, _Mapping]]] = ...) -> None: ...

class DictionaryValue(_message.Message):
    __slots__ = ("values",)
    class KeyValuePair(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: Value
        value: Value
        def __init__(self, key: _Optional[_Union[Value, _Mapping]] = ..., value: _Optional[_Union[Value, _Mapping]] = ...) -> None: ...
    VALUES_FIELD_NUMBER: _ClassVar[int]
    values: _containers.RepeatedCompositeFieldContainer[DictionaryValue.KeyValuePair]
    def __init__(self, values: _Optional[_Iterable[_Union[DictionaryValue.KeyValuePair, _Mapping]]] = ...) -> None: ...
