"""Files to begin with: the corpus, where it is there, and small ones made here."""

from __future__ import annotations

from pathlib import Path

from pteron.files import BundledFile, NamedBlob, PTDFile
from pteron.schema import bundled
from pteron.schema.flat_tensor import TensorLayout
from pteron.schema.program import ScalarType
from tests.files.programs import add_constant_program, add_program, busy_program

FORMATS = ("pte", "ptd", "bpte")
_LARGEST = 64 << 10
"""Larger files of the corpus are cut to their tables: their segments tell the reader nothing."""


def seeds(kind: str, corpus: Path | None) -> list[bytes]:
    """Files of a format (``pte``, ``ptd`` or ``bpte``)."""
    found = _MADE[kind]()
    if corpus is not None and corpus.is_dir():
        paths = sorted(path for path in corpus.iterdir() if path.suffix in _SUFFIXES[kind])
        found += [path.read_bytes() for path in paths if path.stat().st_size <= _LARGEST]
    return found


def _programs() -> list[bytes]:
    constant = bytes(range(16))
    return [
        add_program().to_bytes(),
        add_constant_program([b"", constant]).to_bytes(),
        add_constant_program([b"", constant], inline_constants=True).to_bytes(),
        busy_program().to_bytes(),
    ]


def _data_files() -> list[bytes]:
    layout = TensorLayout(ScalarType.FLOAT, [2, 2], [0, 1])
    blobs = {
        "weight": NamedBlob(bytes(16), 16, layout),
        "same": NamedBlob(bytes(16), 64, layout),
        "opaque": NamedBlob(b"anything", 128),
    }
    return [PTDFile(blobs).to_bytes(), PTDFile({}).to_bytes()]


def _bundles() -> list[bytes]:
    tensor = bundled.Tensor(ScalarType.FLOAT, [2, 2], bytes(16), [0, 1])
    value = bundled.Value(tensor)
    case = bundled.BundledMethodTestCase([value, value], [value])
    suite = bundled.BundledMethodTestSuite("forward", [case, case])
    return [BundledFile(add_program(), [suite]).to_bytes()]


_MADE = {"pte": _programs, "ptd": _data_files, "bpte": _bundles}
_SUFFIXES = {"pte": {".pte"}, "ptd": {".ptd"}, "bpte": {".bpte", ".bp"}}
