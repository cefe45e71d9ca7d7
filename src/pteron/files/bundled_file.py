"""Bundled programs: a program file with test cases."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

from pteron.errors import FormatError
from pteron.files.base import BinaryFile
from pteron.files.program_file import PTEFile
from pteron.files.source import Source
from pteron.flatbuf import Buffer, Reader, Table, UnknownField, encode
from pteron.schema.bundled import (
    IDENTIFIER,
    VERSION,
    BundledMethodTestSuite,
    BundledProgram,
)
from pteron.schema.program import IDENTIFIER as PTE_IDENTIFIER


class BundledFile(BinaryFile):
    """A program with test cases for its methods. The program's bytes are embedded as they are.

    Args:
        pte: the program.
        test_suites: test cases, by method.
    """

    _kept = ("bundle", "pte", "_pte_read")
    _pte_read: PTEFile | None = None

    def __init__(self, pte: PTEFile, test_suites: Sequence[BundledMethodTestSuite] = ()) -> None:
        super().__init__()
        self.pte = pte
        self.bundle = BundledProgram(VERSION, list(test_suites))

    @classmethod
    def from_source(cls, source: Source) -> BundledFile:
        """A view of an open file."""
        made = cls.__new__(cls)
        BinaryFile.__init__(made, source)
        return made

    @cached_property
    def bundle(self) -> BundledProgram:
        """The root table as the file describes it."""
        return Reader(self._view()).root(BundledProgram)

    @cached_property
    def pte(self) -> PTEFile:
        """The program inside, in place; byte offsets in its errors count from its own beginning."""
        view = memoryview(self.bundle.program)
        if view[4:8] != PTE_IDENTIFIER:
            raise FormatError("is not a program (ET12)", where="program")
        self._pte_read = PTEFile.from_source(Source(view, f"{self.path or '<buffer>'} (program)"))
        return self._pte_read

    @property
    def test_suites(self) -> list[BundledMethodTestSuite]:
        """Test cases, by method."""
        return self.bundle.method_test_suites

    @property
    def unknown_fields(self) -> list[UnknownField]:
        """Fields of a newer schema that reading passed over, the program's among them."""
        return super().unknown_fields + self.pte.unknown_fields

    def _would_lose(self) -> list[UnknownField]:
        return super().unknown_fields + (self.pte._would_lose() if self.pte._modified() else [])

    def _pristine(self) -> tuple[Reader, BundledProgram]:
        reader = Reader(self._view())
        return reader, reader.root(BundledProgram)

    def _decoded(self) -> Table | None:
        return self.__dict__.get("bundle")

    def _blobs_modified(self) -> bool:
        pte: PTEFile | None = self.__dict__.get("pte")
        return pte is not None and (pte is not self._pte_read or pte._modified())

    def _encode(self) -> Iterable[Buffer]:
        self.bundle.program = _joined(self.pte.pieces(drop_unknown=True))
        return encode(self.bundle, IDENTIFIER).pieces


def _joined(pieces: Iterable[Buffer]) -> Buffer:
    """One buffer; no copy where there is just one piece."""
    pieces = list(pieces)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)
