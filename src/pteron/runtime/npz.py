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


def read_inputs(path: Path, parameters: Sequence[Parameter]) -> dict[str, Array]:
    """Arrays by input name. A single array serves a single input whatever its key.

    Raises FileAccessError, FormatError, or UsageError where the keys are not the input names.
    """
    arrays = _read(path)
    if len(arrays) == 1 and len(parameters) == 1:
        return {parameters[0].name: next(iter(arrays.values()))}
    names = [parameter.name for parameter in parameters]
    if set(arrays) != set(names):
        raise UsageError(
            f"{path} holds {', '.join(arrays) or 'nothing'}; the inputs are {', '.join(names)}"
        )
    return arrays


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
    """Write an .npz, whole or not at all. Raises FileAccessError where it cannot."""
    arrays: dict[str, Any] = {name: np.asarray(value) for name, value in outputs.items()}
    archive = BytesIO()
    np.savez(archive, allow_pickle=False, **arrays)
    write_atomically(path, [archive.getbuffer()])
