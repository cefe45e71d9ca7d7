"""Writes what OpenVINO compiled to a file as it comes, not by way of memory."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any, BinaryIO


def export(model: Any, path: Path) -> None:
    """Leave a compiled model in a new file, for ``Core.import_model``. Raises OSError.

    ``export_model()`` gives the whole in memory, weights included, several times over while it is
    made.
    """
    with path.open("wb") as file:
        stream = _Through(file)
        model.export_model(stream)
    if stream.error is not None:
        raise stream.error


class _Through(io.BytesIO):
    """What OpenVINO takes for a buffer in memory: everything is handed on to a file.

    OpenVINO asks for its place, and drops what is raised to it, so the first error is kept.
    """

    def __init__(self, file: BinaryIO) -> None:
        super().__init__()
        self._file = file
        self.error: OSError | None = None

    def write(self, data: Any) -> int:
        try:
            return self._file.write(data)
        except OSError as error:
            self.error = self.error or error
            raise

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return self._file.seek(offset, whence)
