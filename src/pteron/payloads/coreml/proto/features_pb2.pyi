from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Int64FeatureType(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class DoubleFeatureType(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class StringFeatureType(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class SizeRange(_message.Message):
    __slots__ = ("lowerBound", "upperBound")
    LOWERBOUND_FIELD_NUMBER: _ClassVar[int]
    UPPERBOUND_FIELD_NUMBER: _ClassVar[int]
    lowerBound: int
    upperBound: int
    def __init__(self, lowerBound: _Optional[int] = ..., upperBound: _Optional[int] = ...) -> None: ...

class ImageFeatureType(_message.Message):
    __slots__ = ("width", "height", "enumeratedSizes", "imageSizeRange", "colorSpace")
    class ColorSpace(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        INVALID_COLOR_SPACE: _ClassVar[ImageFeatureType.ColorSpace]
        GRAYSCALE: _ClassVar[ImageFeatureType.ColorSpace]
        RGB: _ClassVar[ImageFeatureType.ColorSpace]
        BGR: _ClassVar[ImageFeatureType.ColorSpace]
        GRAYSCALE_FLOAT16: _ClassVar[ImageFeatureType.ColorSpace]
    INVALID_COLOR_SPACE: ImageFeatureType.ColorSpace
    GRAYSCALE: ImageFeatureType.ColorSpace
    RGB: ImageFeatureType.ColorSpace
    BGR: ImageFeatureType.ColorSpace
    GRAYSCALE_FLOAT16: ImageFeatureType.ColorSpace
    class ImageSize(_message.Message):
        __slots__ = ("width", "height")
        WIDTH_FIELD_NUMBER: _ClassVar[int]
        HEIGHT_FIELD_NUMBER: _ClassVar[int]
        width: int
        height: int
        def __init__(self, width: _Optional[int] = ..., height: _Optional[int] = ...) -> None: ...
    class EnumeratedImageSizes(_message.Message):
        __slots__ = ("sizes",)
        SIZES_FIELD_NUMBER: _ClassVar[int]
        sizes: _containers.RepeatedCompositeFieldContainer[ImageFeatureType.ImageSize]
        def __init__(self, sizes: _Optional[_Iterable[_Union[ImageFeatureType.ImageSize, _Mapping]]] = ...) -> None: ...
    class ImageSizeRange(_message.Message):
        __slots__ = ("widthRange", "heightRange")
        WIDTHRANGE_FIELD_NUMBER: _ClassVar[int]
        HEIGHTRANGE_FIELD_NUMBER: _ClassVar[int]
        widthRange: SizeRange
        heightRange: SizeRange
        def __init__(self, widthRange: _Optional[_Union[SizeRange, _Mapping]] = ..., heightRange: _Optional[_Union[SizeRange, _Mapping]] = ...) -> None: ...
    WIDTH_FIELD_NUMBER: _ClassVar[int]
    HEIGHT_FIELD_NUMBER: _ClassVar[int]
    ENUMERATEDSIZES_FIELD_NUMBER: _ClassVar[int]
    IMAGESIZERANGE_FIELD_NUMBER: _ClassVar[int]
    COLORSPACE_FIELD_NUMBER: _ClassVar[int]
    width: int
    height: int
    enumeratedSizes: ImageFeatureType.EnumeratedImageSizes
    imageSizeRange: ImageFeatureType.ImageSizeRange
    colorSpace: ImageFeatureType.ColorSpace
    def __init__(self, width: _Optional[int] = ..., height: _Optional[int] = ..., enumeratedSizes: _Optional[_Union[ImageFeatureType.EnumeratedImageSizes, _Mapping]] = ..., imageSizeRange: _Optional[_Union[ImageFeatureType.ImageSizeRange, _Mapping]] = ..., colorSpace: _Optional[_Union[ImageFeatureType.ColorSpace, str]] = ...) -> None: ...

class ArrayFeatureType(_message.Message):
    __slots__ = ("shape", "dataType", "enumeratedShapes", "shapeRange", "intDefaultValue", "floatDefaultValue", "doubleDefaultValue")
    class ArrayDataType(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        INVALID_ARRAY_DATA_TYPE: _ClassVar[ArrayFeatureType.ArrayDataType]
        FLOAT16: _ClassVar[ArrayFeatureType.ArrayDataType]
        FLOAT32: _ClassVar[ArrayFeatureType.ArrayDataType]
        DOUBLE: _ClassVar[ArrayFeatureType.ArrayDataType]
        INT8: _ClassVar[ArrayFeatureType.ArrayDataType]
        INT32: _ClassVar[ArrayFeatureType.ArrayDataType]
    INVALID_ARRAY_DATA_TYPE: ArrayFeatureType.ArrayDataType
    FLOAT16: ArrayFeatureType.ArrayDataType
    FLOAT32: ArrayFeatureType.ArrayDataType
    DOUBLE: ArrayFeatureType.ArrayDataType
    INT8: ArrayFeatureType.ArrayDataType
    INT32: ArrayFeatureType.ArrayDataType
    class Shape(_message.Message):
        __slots__ = ("shape",)
        SHAPE_FIELD_NUMBER: _ClassVar[int]
        shape: _containers.RepeatedScalarFieldContainer[int]
        def __init__(self, shape: _Optional[_Iterable[int]] = ...) -> None: ...
    class EnumeratedShapes(_message.Message):
        __slots__ = ("shapes",)
        SHAPES_FIELD_NUMBER: _ClassVar[int]
        shapes: _containers.RepeatedCompositeFieldContainer[ArrayFeatureType.Shape]
        def __init__(self, shapes: _Optional[_Iterable[_Union[ArrayFeatureType.Shape, _Mapping]]] = ...) -> None: ...
    class ShapeRange(_message.Message):
        __slots__ = ("sizeRanges",)
        SIZERANGES_FIELD_NUMBER: _ClassVar[int]
        sizeRanges: _containers.RepeatedCompositeFieldContainer[SizeRange]
        def __init__(self, sizeRanges: _Optional[_Iterable[_Union[SizeRange, _Mapping]]] = ...) -> None: ...
    SHAPE_FIELD_NUMBER: _ClassVar[int]
    DATATYPE_FIELD_NUMBER: _ClassVar[int]
    ENUMERATEDSHAPES_FIELD_NUMBER: _ClassVar[int]
    SHAPERANGE_FIELD_NUMBER: _ClassVar[int]
    INTDEFAULTVALUE_FIELD_NUMBER: _ClassVar[int]
    FLOATDEFAULTVALUE_FIELD_NUMBER: _ClassVar[int]
    DOUBLEDEFAULTVALUE_FIELD_NUMBER: _ClassVar[int]
    shape: _containers.RepeatedScalarFieldContainer[int]
    dataType: ArrayFeatureType.ArrayDataType
    enumeratedShapes: ArrayFeatureType.EnumeratedShapes
    shapeRange: ArrayFeatureType.ShapeRange
    intDefaultValue: int
    floatDefaultValue: float
    doubleDefaultValue: float
    def __init__(self, shape: _Optional[_Iterable[int]] = ..., dataType: _Optional[_Union[ArrayFeatureType.ArrayDataType, str]] = ..., enumeratedShapes: _Optional[_Union[ArrayFeatureType.EnumeratedShapes, _Mapping]] = ..., shapeRange: _Optional[_Union[ArrayFeatureType.ShapeRange, _Mapping]] = ..., intDefaultValue: _Optional[int] = ..., floatDefaultValue: _Optional[float] = ..., doubleDefaultValue: _Optional[float] = ...) -> None: ...

class DictionaryFeatureType(_message.Message):
    __slots__ = ("int64KeyType", "stringKeyType")
    INT64KEYTYPE_FIELD_NUMBER: _ClassVar[int]
    STRINGKEYTYPE_FIELD_NUMBER: _ClassVar[int]
    int64KeyType: Int64FeatureType
    stringKeyType: StringFeatureType
    def __init__(self, int64KeyType: _Optional[_Union[Int64FeatureType, _Mapping]] = ..., stringKeyType: _Optional[_Union[StringFeatureType, _Mapping]] = ...) -> None: ...

class SequenceFeatureType(_message.Message):
    __slots__ = ("int64Type", "stringType", "sizeRange")
    INT64TYPE_FIELD_NUMBER: _ClassVar[int]
    STRINGTYPE_FIELD_NUMBER: _ClassVar[int]
    SIZERANGE_FIELD_NUMBER: _ClassVar[int]
    int64Type: Int64FeatureType
    stringType: StringFeatureType
    sizeRange: SizeRange
    def __init__(self, int64Type: _Optional[_Union[Int64FeatureType, _Mapping]] = ..., stringType: _Optional[_Union[StringFeatureType, _Mapping]] = ..., sizeRange: _Optional[_Union[SizeRange, _Mapping]] = ...) -> None: ...

class StateFeatureType(_message.Message):
    __slots__ = ("arrayType",)
    ARRAYTYPE_FIELD_NUMBER: _ClassVar[int]
    arrayType: ArrayFeatureType
    def __init__(self, arrayType: _Optional[_Union[ArrayFeatureType, _Mapping]] = ...) -> None: ...

class FeatureType(_message.Message):
    __slots__ = ("int64Type", "doubleType", "stringType", "imageType", "multiArrayType", "dictionaryType", "sequenceType", "stateType", "isOptional")
    INT64TYPE_FIELD_NUMBER: _ClassVar[int]
    DOUBLETYPE_FIELD_NUMBER: _ClassVar[int]
    STRINGTYPE_FIELD_NUMBER: _ClassVar[int]
    IMAGETYPE_FIELD_NUMBER: _ClassVar[int]
    MULTIARRAYTYPE_FIELD_NUMBER: _ClassVar[int]
    DICTIONARYTYPE_FIELD_NUMBER: _ClassVar[int]
    SEQUENCETYPE_FIELD_NUMBER: _ClassVar[int]
    STATETYPE_FIELD_NUMBER: _ClassVar[int]
    ISOPTIONAL_FIELD_NUMBER: _ClassVar[int]
    int64Type: Int64FeatureType
    doubleType: DoubleFeatureType
    stringType: StringFeatureType
    imageType: ImageFeatureType
    multiArrayType: ArrayFeatureType
    dictionaryType: DictionaryFeatureType
    sequenceType: SequenceFeatureType
    stateType: StateFeatureType
    isOptional: bool
    def __init__(self, int64Type: _Optional[_Union[Int64FeatureType, _Mapping]] = ..., doubleType: _Optional[_Union[DoubleFeatureType, _Mapping]] = ..., stringType: _Optional[_Union[StringFeatureType, _Mapping]] = ..., imageType: _Optional[_Union[ImageFeatureType, _Mapping]] = ..., multiArrayType: _Optional[_Union[ArrayFeatureType, _Mapping]] = ..., dictionaryType: _Optional[_Union[DictionaryFeatureType, _Mapping]] = ..., sequenceType: _Optional[_Union[SequenceFeatureType, _Mapping]] = ..., stateType: _Optional[_Union[StateFeatureType, _Mapping]] = ..., isOptional: bool = ...) -> None: ...
