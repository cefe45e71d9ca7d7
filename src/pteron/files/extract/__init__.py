"""Take a file apart into files that other tools open."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from pteron.errors import UsageError
from pteron.files.as_json import as_json
from pteron.files.bundled_file import BundledFile
from pteron.files.data_file import PTDFile
from pteron.files.extract.kinds import CONTENTS, ArrayFormat
from pteron.files.extract.new_directory import new_directory
from pteron.files.extract.payloads import whole_payloads, write_payloads
from pteron.files.extract.write_arrays import write_arrays
from pteron.files.parts import NamedBlob
from pteron.files.program_file import PTEFile
from pteron.files.stored import StoredTensor, stored_constants, stored_initial_values
from pteron.files.tensor_arrays import raw_array, tensor_array
from pteron.flatbuf import Table
from pteron.progress import stage

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["CONTENTS", "ArrayFormat", "extract"]


@stage("extract")
def extract(
    file: PTEFile | PTDFile | BundledFile,
    directory: str | os.PathLike[str],
    contents: Collection[str] = CONTENTS,
    arrays: ArrayFormat = "safetensors",
) -> None:
    """Write what is in ``file`` to a new directory, all or nothing. Of a bundle, its program.

    ``program.json`` (of a data file ``data.json``) holds the tables; ``constants`` and
    ``initial_values`` the tensors with their names, types and logical shapes; ``named_data`` the
    named blobs, as tensors where the file says their layout and as bytes where not; ``payloads``
    what backends made: a Core ML payload as the ``.mlpackage`` it is. A named blob that is a whole
    payload is not written a second time beside it.

    Raises:
        UsageError: ``contents`` names something that is not in CONTENTS.
        FileAccessError: ``directory`` exists and is not empty, or cannot be written.
        FormatError: the file is damaged, or a payload has a path that would leave ``directory``.
    """
    if unknown := set(contents) - set(CONTENTS):
        raise UsageError(f"cannot extract {sorted(unknown)}; there are: {', '.join(CONTENTS)}")
    opened = file.pte if isinstance(file, BundledFile) else file
    with new_directory(directory) as folder:
        if isinstance(opened, PTDFile):
            _extract_data(opened, folder, contents, arrays)
        else:
            _extract_program(opened, folder, contents, arrays)


def _extract_data(
    file: PTDFile, folder: Path, contents: Collection[str], arrays: ArrayFormat
) -> None:
    if "program" in contents:
        _write_table(folder / "data.json", file.flat_tensor)
    if "named-data" in contents:
        write_arrays(folder, "named_data", _named_arrays(file.named_data), arrays)


def _extract_program(
    file: PTEFile, folder: Path, contents: Collection[str], arrays: ArrayFormat
) -> None:
    named = file.named_data
    if "program" in contents:
        _write_table(folder / "program.json", file.program)
    if "constants" in contents:
        write_arrays(folder, "constants", _arrays(stored_constants(file)), arrays)
        write_arrays(folder, "initial_values", _arrays(stored_initial_values(file)), arrays)
    if "payloads" in contents and file.delegates:
        write_payloads(file, folder / "payloads")
        for key in whole_payloads(file):
            del named[key]
    if "named-data" in contents:
        write_arrays(folder, "named_data", _named_arrays(named), arrays)


def _arrays(stored: Iterable[StoredTensor]) -> dict[str, NDArray[np.generic]]:
    return {
        one.name: tensor_array(one.tensor, one.data, one.name)
        if one.tensor
        else raw_array(one.data)
        for one in stored
    }


def _named_arrays(named: Mapping[str, NamedBlob]) -> dict[str, NDArray[np.generic]]:
    return {
        key: tensor_array(blob.tensor_layout, memoryview(blob.data), key)
        if blob.tensor_layout
        else raw_array(memoryview(blob.data))
        for key, blob in named.items()
    }


def _write_table(path: Path, table: Table) -> None:
    path.write_text(json.dumps(as_json(table), indent=2, ensure_ascii=False), "utf-8")
