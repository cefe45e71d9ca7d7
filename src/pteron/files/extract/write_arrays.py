"""Arrays as files: one .safetensors, or a directory of .npy."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from pteron.files.extract.kinds import ArrayFormat
from pteron.files.extract.names import FileNames

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def write_arrays(
    folder: Path, name: str, arrays: Mapping[str, NDArray[np.generic]], kind: ArrayFormat
) -> None:
    """Write ``name.safetensors``, or ``name/<array>.npy`` for each; nothing if there are none.

    NumPy has no bfloat16 and no float8: in .npy those elements are plain bytes of their size.
    """
    if not arrays:
        return
    if kind == "safetensors":
        _write_safetensors(folder / f"{name}.safetensors", arrays)
    else:
        _write_npy(folder / name, arrays)


def _write_safetensors(path: Path, arrays: Mapping[str, NDArray[np.generic]]) -> None:
    import numpy as np
    from safetensors.numpy import save_file

    save_file({name: np.ascontiguousarray(array) for name, array in arrays.items()}, path)
    path.chmod(path.parent.stat().st_mode & 0o666)  # it comes private; the user's mask is for us


def _write_npy(folder: Path, arrays: Mapping[str, NDArray[np.generic]]) -> None:
    import numpy as np

    folder.mkdir()
    names = FileNames()
    for name, array in arrays.items():
        np.save(folder / f"{names.unique(name)}.npy", array, allow_pickle=False)
