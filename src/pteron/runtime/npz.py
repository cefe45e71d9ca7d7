"""Inputs and outputs of a call as .npz and .npy files."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from pteron.errors import FileAccessError, FormatError, UsageError
from pteron.files.saving import write_atomically
from pteron.runtime.arrays import Array
from pteron.runtime.signature import Parameter


def read_inputs(path: Path, parameters: Sequence[Parameter]) -> dict[str, Any]:
    """Inputs by name. A single array serves a single input whatever its key.

    An input that is a plain number takes an array of one element.
    Raises FileAccessError, FormatError, or UsageError where the keys are not the input names.
    """
    arrays = _read(path)
    if len(arrays) == 1 and len(parameters) == 1:
        arrays = {parameters[0].name: next(iter(arrays.values()))}
    names = [parameter.name for parameter in parameters]
    if set(arrays) != set(names):
        raise UsageError(
            f"{path} holds {', '.join(arrays) or 'nothing'}; the inputs are {', '.join(names)}"
        )
    return {
        p.name: _plain(arrays[p.name]) if p.dtype is None else arrays[p.name] for p in parameters
    }


def _plain(array: Array) -> Any:
    return array.item() if array.size == 1 else array


def _read(path: Path) -> dict[str, Array]:
    try:
        loaded = np.load(path, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return {path.stem: loaded}
        with loaded:
            return {name: loaded[name] for name in loaded.files}
    except OSError as error:
        raise FileAccessError(f"{path}: {error.strerror or error}") from None
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        raise FormatError(f"{path} is no .npz or .npy file: {error}") from None


def write_outputs(path: Path, outputs: Mapping[str, object]) -> None:
    """Write an .npz, whole or not at all. Raises FileAccessError where it cannot.

    bfloat16 and float8, which NumPy's format cannot name, are written as float32.
    """
    arrays: dict[str, Any] = {name: _storable(value) for name, value in outputs.items()}
    archive = BytesIO()
    np.savez(archive, allow_pickle=False, **arrays)
    write_atomically(path, [archive.getbuffer()])


def _storable(value: object) -> Array:
    array = np.asarray(value)
    foreign = array.dtype.type.__module__ != "numpy"
    return array.astype(np.float32) if foreign else array
