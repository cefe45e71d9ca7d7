"""A declarative FlatBuffers codec: tables declared once, verified when read, written canonically.

It knows no schema. Format facts: the FlatBuffers internals document ("FlatBuffer Internals").
"""

from __future__ import annotations

from pteron.flatbuf.declare import (
    BOOL,
    FLOAT64,
    INT8,
    INT32,
    INT64,
    UINT8,
    UINT32,
    UINT64,
    Buffer,
    blob,
    members,
    scalar,
    string,
    subtable,
    tables,
    union,
    vector,
)
from pteron.flatbuf.reader import Reader, UnknownField
from pteron.flatbuf.table import Table, clone, decoding_errors, differ, load_all
from pteron.flatbuf.writer import Encoded, encode

__all__ = [
    "BOOL",
    "FLOAT64",
    "INT8",
    "INT32",
    "INT64",
    "UINT8",
    "UINT32",
    "UINT64",
    "Buffer",
    "Encoded",
    "Reader",
    "Table",
    "UnknownField",
    "blob",
    "clone",
    "decoding_errors",
    "differ",
    "encode",
    "load_all",
    "members",
    "scalar",
    "string",
    "subtable",
    "tables",
    "union",
    "vector",
]
